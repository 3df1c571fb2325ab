-- Builds a table out of the input and gives it to all that takes tables. What encodes must decode, and encode again to
-- the same bytes.
local common = require "common"
local make = require "make"
local same, unpack = common.same, common.unpack

local OPTIONS = { required = "ignore", sort_map = true }
local pb = common.instance(OPTIONS)
-- Metamethods change options and types of the other one.
local calm = common.instance(OPTIONS)
local fields = common.fields_of(calm)

-- Runs in a coroutine, which yields where it can.
local function resumed(f, ...)
  local thread = coroutine.create(f)
  local results = common.pack(coroutine.resume(thread, ...))
  while coroutine.status(thread) == "suspended" do
    results = common.pack(coroutine.resume(thread))
  end
  return unpack(results, 1, results.n)
end

-- The results of a call that may fail, if only with what metamethods raised or with an error of the type.
local function try(maker, type_name, f, ...)
  local results = common.pack((maker.take(3) == 0 and resumed or pcall)(f, ...))
  if not results[1] and results[2] ~= make.RAISED and not (maker.proxied and type(results[2]) == "string") then
    common.is_error(results[2], type_name)
  end
  return unpack(results, 1, results.n)
end

local function tables(maker, type_name)
  local message = maker.message(type_name, 3)
  local fine, bytes = try(maker, type_name, pb.encode, type_name, message)
  if fine then
    local plain = assert(calm.decode(type_name, bytes))
    local again = calm.encode(type_name, plain)
    same("decoded while finalizers play", pb.decode(type_name, bytes), plain)
    same("encoded again", calm.encode(type_name, assert(calm.decode(type_name, again))), again)
    if not maker.changes and not maker.proxied then
      same("encoded from plain tables", again, bytes)
    end
  end
  for _, form in ipairs { "json", "text" } do
    local written, text = try(maker, type_name, pb["to_" .. form], type_name, message)
    if written then
      local read, problem = calm["from_" .. form](type_name, text)
      if not read and not problem:find("unregistered", 1, true) then
        error(problem .. "\n  in " .. text)
      end
    end
    if fine and form == "text" and not maker.proxied and not written then
      error("not written as text: " .. tostring(text))
    end
  end
end

local function flat(maker, type_name)
  local words, values, taken = { type_name }, { n = 0 }, {}
  for _ = 1, maker.take(6) do
    local known = fields[type_name]
    local field = known[maker.take(256) % #known + 1]
    if not taken[field] then
      taken[field] = true
      words[#words + 1] = common.name_of(field)
      values.n = values.n + 1
      values[values.n] = maker.value(field, 2)
    end
  end
  local pattern = table.concat(words, " ")
  local fine, bytes = try(maker, type_name, pb.pack, pattern, unpack(values, 1, values.n))
  -- What stands for a message is taken as it is, so a group may not end where it should.
  fine = fine and pcall(calm.unpack, pattern, bytes)
  if fine then
    local again = calm.pack(pattern, calm.unpack(pattern, bytes))
    pb.unpack(pattern, bytes)
    same("packed again", calm.pack(pattern, calm.unpack(pattern, again)), again)
    if not maker.changes and not maker.proxied then
      same("packed from plain values", calm.pack(pattern, calm.unpack(pattern, bytes)), again)
    end
  end
end

-- When the state is closed, the instance may be gone before.
make.finalized(function()
  pb.encode("every3.All", { s_inner = { a = 1 } })
end)

return function(data)
  local type_name = common.TYPES[(data:byte(1) or 0) % #common.TYPES + 1]
  local how = data:byte(2) or 0
  pb.option("sort_map", true)
  local maker = make.maker(pb, fields, data, 3, how % 2 == 0)
  local haunted = how % 16 == 3
  if haunted then
    maker.haunt()
  end
  if how % 8 < 6 then
    tables(maker, type_name)
  else
    flat(maker, type_name)
  end
  if haunted then
    -- Before the next input comes.
    collectgarbage()
  end
end
