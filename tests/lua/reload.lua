-- Files that wait for imports, and files that are replaced: what a running program sees.

local h = ...
local protobuf = h.protobuf
local raises = h.raises

local function base(fields, ...)
  return h.file("base.proto", "hot", { h.message("Base", fields), ... })
end

local user = h.file("user.proto", "hot", {
  h.message("User", { { "base", 1, 1, 11, ".hot.Base" }, { "bases", 2, 3, 11, ".hot.Base" } }),
}) .. h.field(3, "base.proto")

local OLD = { { "a", 1, 1, 5 }, { "gone", 2, 1, 9 } }
local NEW = { { "a", 1, 1, 9 }, { "more", 3, 1, 5 } }

h.test("a file waits for its imports", function()
  local pb = protobuf.new()
  local done, missing, replaced = pb.register(user)
  h.eq({ done, missing, replaced }, { true, { "base.proto" } })
  h.eq({ pb.register(user) }, { true, { "base.proto" } })
  h.eq(pb.check "hot.User", false)
  local why = 'hot.User is in user.proto, which waits for import "base.proto"'
  h.eq(pb.lasterror(), why)
  raises(why, pb.encode, "hot.User", {})
  h.eq({ pb.decode("hot.User", "") }, { false, why })
  raises(why, pb.pack, "hot.User base", "")
  raises(why, pb.unpack, "hot.User base", "")
  raises(why, pb.default, "hot.User", {})
  -- Others are not kept waiting.
  local others = { pb.register(h.set "addressbook") }
  h.eq(others, { true, { "base.proto" } })
  h.eq(pb.check "tutorial.Person", true)

  h.eq({ pb.register(base(OLD)) }, { true })
  h.both(pb, "hot.User", { base = { a = 1 } }, "0a 02 08 01")
  h.eq({ pb.register(user) }, { true })
end)

h.test("what has waited and does not link is told, and blocks nobody", function()
  local pb = protobuf.new()
  pb.register(user)
  local why = "user.proto: hot.User.base: name '.hot.Base' is not defined"
  h.eq({ pb.register(h.file("base.proto", "hot", { h.message("Other", {}) })) }, { true, nil, nil, { ["user.proto"] = why } })
  h.eq(pb.lasterror(), why)
  h.eq({ pb.register(h.set "addressbook") }, { true, nil, nil, { ["user.proto"] = why } })
  h.eq(pb.check "hot.Other", true)
  raises("hot.User is in user.proto, which does not link: hot.User.base: name '.hot.Base' is not defined", pb.encode, "hot.User", {})
  raises(why, pb.register, user)
  h.eq(pb.check "hot.Other", true)
  -- A reload may be what it needs.
  h.eq({ pb.register(base(OLD)) }, { true, nil, { "base.proto" } })
  h.both(pb, "hot.User", { base = { a = 1 } }, "0a 02 08 01")
end)

h.test("text does not wait, and says why what it imports is of no use", function()
  if not h.compiles then
    return
  end
  local pb = protobuf.new()
  pb.register(user)
  raises('t.proto:1:1: import "user.proto" waits for import "base.proto"', pb.register_source, 'import "user.proto";', "t.proto")
  raises('import "base.proto" is not registered', pb.register_source, 'import "base.proto";')
end)

h.test("patterns, names and caches follow a reload", function()
  local pb = protobuf.new()
  pb.register(base(OLD))
  pb.register(user)
  for _ = 1, 3 do
    h.eq(pb.encode("hot.User", { base = { a = 1, gone = "x" } }), h.bytes "0a 05 08 01 12 01 78")
    h.eq(pb.pack("hot.Base a gone", 1, "x"), h.bytes "08 01 12 01 78")
    h.eq({ pb.unpack("hot.Base a gone", h.bytes "08 01 12 01 78") }, { 1, "x" })
  end
  h.eq({ pb.register(base(NEW)) }, { true, nil, { "base.proto" } })
  for _ = 1, 3 do
    h.eq(pb.encode("hot.User", { base = { a = "1", more = 7 } }), h.bytes "0a 05 0a 01 31 18 07")
    h.eq(pb.pack("hot.Base a more", "1", 7), h.bytes "0a 01 31 18 07")
    h.eq({ pb.unpack("hot.Base a more", h.bytes "0a 01 31 18 07") }, { "1", 7 })
    raises('unknown field "gone"', pb.pack, "hot.Base a gone", "1", "x")
    h.eq(pb.check("hot.Base", "more"), true)
    h.eq(pb.check("hot.Base", "gone"), false)
  end
  h.eq({ pb.register(base(OLD)) }, { true, nil, { "base.proto" } })
  h.eq({ pb.unpack("hot.Base a gone", h.bytes "08 01 12 01 78") }, { 1, "x" })
end)

h.test("tables from before a reload stay usable", function()
  local pb = protobuf.new()
  pb.register(base(OLD))
  pb.register(user)
  local old = pb.decode("hot.User", h.bytes "0a 05 08 01 12 01 78")
  pb.register(base(NEW))
  -- They read as they did.
  h.eq(old.base.gone, "x")
  h.eq(#old.bases, 0)
  h.eq(pb.has(old, "base"), true)
  h.eq(pb.has(old, "bases"), false)
  -- What the new type lacks is an unknown key, what it has differently is checked.
  raises('hot.User.base: unknown field "gone"', pb.encode, "hot.User", old)
  old.base.gone = nil
  old.base.a = {}
  raises("hot.User.base.a: expected string", pb.encode, "hot.User", old)
  old.base.a = "s"
  h.eq(pb.encode("hot.User", old), h.bytes "0a 03 0a 01 73")
  -- A table that reading made before counts as absent still.
  pb.register(base(OLD))
  local absent = pb.decode("hot.User", "")
  h.eq(absent.base.a, 0)
  pb.register(base(NEW))
  h.eq(pb.has(absent, "base"), false)
  h.eq(pb.encode("hot.User", absent), "")
  h.eq(pb.decode("hot.User", "").base.a, "")
end)

h.test("a broken new version changes nothing", function()
  local pb = protobuf.new()
  pb.register(base(OLD))
  pb.register(user)
  local cases = {
    { "user.proto: hot.User.base: name '.hot.Base' is not defined (with the new base.proto)", h.file("base.proto", "hot", { h.message("Else", {}) }) },
    { "base.proto: hot.Base.b: field number '1' is already used", base { { "a", 1, 1, 5 }, { "b", 1, 1, 5 } } },
    { "base.proto: hot.Base.a: name '.hot.No' is not defined", base { { "a", 1, 1, 11, ".hot.No" } } },
    { "user.proto: name 'hot.User' is already defined in file 'base.proto' (with the new base.proto)", base(OLD, h.message("User", {})) },
    { 'base.proto: already registered with package "hot", not "cold"', h.file("base.proto", "cold", { h.message("Base", {}) }) },
  }
  for _, case in ipairs(cases) do
    raises(case[1], pb.register, case[2])
    h.eq(pb.lasterror(), select(2, pcall(pb.register, case[2])))
    h.both(pb, "hot.User", { base = { a = 1 } }, "0a 02 08 01")
    h.eq({ pb.unpack("hot.Base a gone", h.bytes "08 01 12 01 78") }, { 1, "x" })
  end
end)

h.test("reloads within calls: a callback, a metamethod, a finalizer", function()
  local pb = protobuf.new()
  pb.register(base(OLD))
  pb.register(user)
  local function reload(fields)
    return function()
      pb.register(base(fields))
    end
  end
  h.eq(pb.encode("hot.User", { base = { a = 1 } }, function(_, length)
    pb.register(base(NEW))
    return length
  end), 4)
  raises("hot.User.base.a: expected string", pb.encode, "hot.User", { base = { a = true } })
  -- The call that is under way keeps the types that it began with.
  local proxy = setmetatable({}, {
    __pairs = function()
      pb.register(base(OLD))
      return next, { base = { a = "1", more = 7 } }, nil
    end,
  })
  h.eq(pb.encode("hot.User", proxy), h.bytes "0a 05 0a 01 31 18 07")
  h.both(pb, "hot.User", { base = { a = 1 } }, "0a 02 08 01")
  for i = 1, 200 do
    h.finalized(reload(i % 2 == 0 and NEW or OLD))
    local decoded = pb.decode("hot.User", h.bytes "0a 02 08 01 12 00 12 02 08 05")
    h.eq(type(decoded) == "table" or decoded == false, true)
    pcall(pb.unpack, "hot.Base a", h.bytes "08 01")
  end
  -- The last of the finalizers run before.
  collectgarbage()
  collectgarbage()
  pb.register(base(OLD))
  h.both(pb, "hot.User", { base = { a = 1 } }, "0a 02 08 01")
end)

h.test("reloads, each with another version, and repeats leave no memory behind", function()
  local pb = protobuf.new()
  pb.register(user)
  local function round(n)
    local version
    for i = 1, n do
      version = base { { "a", i, 1, 5 } }
      pb.register(version)
      h.eq(pb.decode("hot.User", "").base.a, 0)
      h.eq({ pb.unpack("hot.Base a", h.varint(i * 8) .. "\7") }, { 7 })
    end
    for _ = 1, n * 100 do
      pb.register(version)
    end
    collectgarbage()
    collectgarbage()
    return collectgarbage "count"
  end
  round(100)
  local before = round(100)
  local after = round(1000)
  h.eq(after - before < 64, true, ("%.1f KB more"):format(after - before))
end)
