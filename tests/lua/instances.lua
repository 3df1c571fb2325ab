-- Instances: the module is one, new makes others, none knows of another.

local h = ...
local protobuf = h.protobuf

h.test("the module has a version and sets no global", function()
  h.eq(type(protobuf._VERSION), "string")
  h.eq(rawget(_G, "protobuf"), nil)
  assert(rawequal(require "protobuf", protobuf))
end)

h.test("an instance is a plain table with the same functions", function()
  local pb = protobuf.new()
  h.eq(type(pb), "table")
  h.eq(getmetatable(pb), nil)
  for _, name in ipairs {
    "register", "register_file", "encode", "decode", "pack", "unpack", "check", "enum_id", "enum_name", "default", "extract", "has",
    "lasterror", "option", "new", "clear", "types", "services", "fields", "enum", "methods", "schema_options", "comment",
  } do
    h.eq(type(protobuf[name]), "function", name)
    h.eq(type(pb[name]), "function", name)
  end
end)

h.test("types belong to an instance", function()
  local one, two = protobuf.new(), protobuf.new()
  one.register(h.set "login")
  h.eq(one.check("login.Role"), true)
  h.eq(two.check("login.Role"), false)
  h.raises("login.Role", two.encode, "login.Role", {})
  h.refuses("login.Role", two.decode("login.Role", ""))
  h.raises("login.Role", two.pack, "login.Role id", 1)
end)

h.test("the module is an instance too", function()
  h.eq(protobuf.check("login.Role"), false)
  protobuf.register(h.set "login")
  h.encodes(protobuf, "login.Role", { id = 7, name = "x" }, "08 07 12 01 78")
  h.decodes(protobuf, "login.Role", "08 07 12 01 78", { id = 7, name = "x" })
  h.eq(protobuf.new().check("login.Role"), false)
  protobuf.clear()
  h.eq(protobuf.check("login.Role"), false)
end)

h.test("new of an instance begins with the library's defaults", function()
  local pb = h.instance { enum = "number" }
  local other = pb.new()
  h.eq(other.option("enum"), "name")
  h.eq(other.check("every3.All"), false)
  h.eq(pb.option("enum"), "number")
end)

h.test("one name may mean two things in two instances", function()
  local one, two = protobuf.new(), protobuf.new()
  one.register(h.file("a.proto", "own", { h.message("M", { { "x", 1, 1, 5 } }) }))
  two.register(h.file("a.proto", "own", { h.message("M", { { "y", 2, 1, 9 } }) }))
  for _ = 1, 2 do
    h.both(one, "own.M", { x = 5 }, "08 05")
    h.both(two, "own.M", { y = "5" }, "12 01 35")
    h.raises('unknown field "y"', one.encode, "own.M", { y = "5" })
    h.eq(one.unpack("own.M x", h.bytes "08 05"), 5)
    h.raises("x", two.unpack, "own.M x", h.bytes "08 05")
  end
end)

h.test("functions work without their table", function()
  local pb = h.instance()
  local encode, decode = pb.encode, pb.decode
  pb = nil
  collectgarbage()
  collectgarbage()
  h.eq(encode("every3.All", { s_int32 = 5 }), h.bytes "18 05")
  h.eq(decode("every3.All", h.bytes "18 05"), { s_int32 = 5 })
end)

h.test("decoded tables outlive their instance", function()
  local pb = h.instance()
  local all = pb.decode("every2.All", h.bytes "18 05")
  pb = nil
  collectgarbage()
  collectgarbage()
  h.eq(all.d_int32, -42)
  h.eq(all.o_inner.inner.b, "")
  h.encodes(h.instance(), "every2.All", all, "18 05")
end)

h.test("clear forgets types, patterns and enums, but no option", function()
  local pb = h.instance { enum = "number" }
  h.eq(pb.pack("every3.All s_int32", 5), h.bytes "18 05")
  local all = pb.decode("every3.All", "")
  pb.clear()
  h.eq(pb.check("every3.All"), false)
  h.raises("every3.All", pb.encode, "every3.All", {})
  h.raises("every3.All", pb.pack, "every3.All s_int32", 5)
  h.refuses("every3.All", pb.decode("every3.All", ""))
  h.eq(pb.option("enum"), "number")
  h.eq(all.s_string, "")
  pb.register(h.set "every3")
  h.decodes(pb, "every3.All", "80 01 02", { s_color = 2 })
  h.eq(pb.unpack("every3.All s_int32", h.bytes "18 05"), 5)
end)

h.test("after clear the same name may mean something else", function()
  local pb = protobuf.new()
  pb.register(h.file("a.proto", "own", { h.message("M", { { "x", 1, 1, 5 } }) }))
  h.encodes(pb, "own.M", { x = 5 }, "08 05")
  h.eq(pb.pack("own.M x", 5), h.bytes "08 05")
  pb.clear()
  pb.register(h.file("a.proto", "own", { h.message("M", { { "x", 3, 1, 9 } }) }))
  h.encodes(pb, "own.M", { x = "5" }, "1a 01 35")
  h.eq(pb.pack("own.M x", "5"), h.bytes "1a 01 35")
end)

h.test("many instances", function()
  local all = {}
  for i = 1, 200 do
    all[i] = protobuf.new()
    all[i].register(h.set "every3")
  end
  for i = 1, 200 do
    h.eq(all[i].decode("every3.All", h.bytes "18 05").s_int32, 5)
  end
end)

-- An object whose finalizer calls f with it.
local function finalized(object, f)
  if newproxy then
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function()
      f(object)
    end
    object.proxy = proxy
    return object
  end
  return setmetatable(object, { __gc = f })
end

h.test("a finalizer may call functions of an instance that is collected with it", function()
  local calls, fine = 0, 0
  for _ = 1, 50 do
    local box = {}
    box.own = h.protobuf.new()
    box.own.register(h.set "addressbook")
    box.own.unpack("tutorial.Person id", "\16\1")
    box.t = box.own.decode("tutorial.Person", "\10\0\16\1")
    box.object = finalized({ box = box }, function(self)
      calls = calls + 1
      local own = self.box.own
      for _, f in ipairs {
        function() return own.decode("tutorial.Person", "\10\0\16\1") end,
        function() return own.encode("tutorial.Person", { name = "", id = 1 }) end,
        function() return own.unpack("tutorial.Person id", "\16\1") end,
        function() return own.unpack("tutorial.Person id name", "\16\1") end,
        function() return own.register(h.set "login") end,
        function() return own.clear() end,
        function() return self.box.t.phone end,
      } do
        local ok, message = pcall(f)
        if ok then
          fine = fine + 1
        else
          assert(tostring(message):find("closed", 1, true), message)
        end
      end
    end)
  end
  collectgarbage()
  collectgarbage()
  assert(calls > 0, "no finalizer ran")
end)

h.test("clear forgets what the metatables of types hold, too", function()
  local own = h.protobuf.new()
  local set = h.set "addressbook"
  local function round()
    own.register(set)
    own.decode("tutorial.Person", "\10\0\16\1")
    own.clear()
  end
  for _ = 1, 20 do
    round()
  end
  collectgarbage()
  collectgarbage()
  local before = collectgarbage("count")
  for _ = 1, 60 do
    round()
  end
  collectgarbage()
  collectgarbage()
  assert(collectgarbage("count") - before < 200, collectgarbage("count") - before)
end)

-- Programs forbid the reading of undeclared globals, and sandboxes take some away.
h.test("the module loads whatever the globals are", function()
  local loaded, meta, version, jit = package.loaded.protobuf, getmetatable(_G), _VERSION, jit
  package.loaded.protobuf = nil
  rawset(_G, "_VERSION", nil)
  rawset(_G, "jit", nil)
  setmetatable(_G, { __index = function(_, name)
    error("undeclared variable " .. name, 2)
  end })
  local fine, again = pcall(require, "protobuf")
  setmetatable(_G, meta)
  rawset(_G, "_VERSION", version)
  rawset(_G, "jit", jit)
  package.loaded.protobuf = loaded
  assert(fine, again)
  assert(again ~= loaded and again._VERSION == loaded._VERSION)
end)
