-- Strings: what encode takes, and UTF-8, which proto3 validates both ways and proto2 does not.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

h.test("strings of every length class", function()
  both(pb, "every3.All", { s_string = "testing" }, "72 07 74 65 73 74 69 6e 67")
  both(pb, "every3.All", { s_string = "a\0b" }, "72 03 61 00 62")
  both(pb, "every3.All", { s_string = ("x"):rep(127) }, "72 7f" .. ("78"):rep(127))
  both(pb, "every3.All", { s_string = ("x"):rep(300) }, "72 ac 02" .. ("78"):rep(300))
  both(pb, "every3.All", { o_string = "" }, "92 02 00")
end)

h.test("a number is taken as Lua prints it", function()
  encodes(pb, "every3.All", { s_string = 12 }, "72 02 31 32")
  encodes(pb, "every3.All", { s_string = -0.5 }, "72 04 2d 30 2e 35")
  local bytes = pb.encode("every3.All", { s_string = 3.0 })
  h.eq(pb.decode("every3.All", bytes).s_string, tostring(3.0))
end)

h.test("a table that holds a number for a string keeps it", function()
  local value = { s_string = 12, r_string = { 1, 2 } }
  encodes(pb, "every3.All", value, "72 02 31 32 b2 03 01 31 b2 03 01 32")
  h.eq(value, { s_string = 12, r_string = { 1, 2 } })
end)

h.test("other values are refused", function()
  for _, value in ipairs { true, false, {}, print, io.stdout } do
    raises("every3.All.s_string: expected string, got ", pb.encode, "every3.All", { s_string = value })
  end
end)

local valid = { "c3 a9", "c2 80", "df bf", "e0 a0 80", "e2 82 ac", "ed 9f bf", "ee 80 80", "ef bf bf", "f0 90 80 80", "f0 9f 98 80", "f4 8f bf bf" }

local invalid = {
  "80", "bf", "c0 80", "c1 bf", "c3", "c3 41", "e0 80 80", "e0 9f bf", "e2 82", "e2 28 a1", "ed a0 80", "ed bf bf",
  "f0 80 80 80", "f0 8f bf bf", "f0 9f 98", "f4 90 80 80", "f5 80 80 80", "f8 88 80 80 80", "fe", "ff",
}

-- The field s_string with these contents.
local function message(contents)
  return h.field(14, contents)
end

h.test("valid UTF-8 passes both ways", function()
  for _, hex in ipairs(valid) do
    local contents = h.bytes(hex)
    h.eq(pb.encode("every3.All", { s_string = contents }), message(contents), hex)
    h.eq(pb.decode("every3.All", message(contents)), { s_string = contents }, hex)
  end
end)

h.test("invalid UTF-8 is refused both ways in proto3", function()
  for _, hex in ipairs(invalid) do
    local contents = h.bytes(hex)
    raises("every3.All.s_string: ...UTF-8", pb.encode, "every3.All", { s_string = contents })
    refuses("every3.All.s_string: ...UTF-8", pb.decode("every3.All", message(contents)))
  end
end)

h.test("invalid UTF-8 is found wherever it stands", function()
  for before = 0, 40 do
    local contents = ("a"):rep(before) .. "\255" .. ("b"):rep(40 - before)
    raises("UTF-8", pb.encode, "every3.All", { s_string = contents })
    refuses("UTF-8", pb.decode("every3.All", message(contents)))
    contents = ("a"):rep(before) .. h.bytes "e2 82"
    raises("UTF-8", pb.encode, "every3.All", { s_string = contents })
    contents = ("a"):rep(before) .. h.bytes "e2 82 ac" .. ("b"):rep(40 - before)
    h.eq(pb.decode("every3.All", message(contents)).s_string, contents)
  end
end)

h.test("strings in lists, maps and oneofs are validated too", function()
  local bad = "\255"
  raises("every3.All.r_string[2]: ", pb.encode, "every3.All", { r_string = { "a", bad } })
  raises("every3.All.k_string", pb.encode, "every3.All", { k_string = { [bad] = 1 } })
  raises("every3.All.v_string", pb.encode, "every3.All", { v_string = { a = bad } })
  raises("every3.All.c_string: ", pb.encode, "every3.All", { c_string = bad })
  refuses("every3.All.r_string[1]: ", pb.decode("every3.All", h.bytes "b2 03 01 ff"))
  refuses("every3.All.k_string", pb.decode("every3.All", h.bytes "e2 05 05 0a 01 ff 10 01"))
  refuses("every3.All.v_string", pb.decode("every3.All", h.bytes "92 07 06 0a 01 61 12 01 ff"))
  refuses("every3.All.c_string: ", pb.decode("every3.All", h.bytes "d2 07 01 ff"))
end)

h.test("proto2 does not validate", function()
  both(pb, "every2.All", { o_string = "\255" }, "72 01 ff")
  both(pb, "every2.All", { r_string = { h.bytes "ed a0 80" } }, "92 02 03 ed a0 80")
  both(pb, "every2.All", { k_string = { ["\192"] = 1 } }, "e2 05 05 0a 01 c0 10 01")
end)

h.test("bytes are not validated", function()
  both(pb, "every3.All", { s_bytes = "\255", r_bytes = { "\128" } }, "7a 01 ff ba 03 01 80")
end)

h.test("option utf8=ignore passes everything both ways", function()
  local lax = h.instance { utf8 = "ignore" }
  both(lax, "every3.All", { s_string = "\255" }, "72 01 ff")
  both(lax, "every3.All", { v_string = { ["\254"] = "\255" } }, "92 07 06 0a 01 fe 12 01 ff")
end)
