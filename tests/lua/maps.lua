-- Maps: every type of key and of value, both table forms, incomplete and repeated entries.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

h.test("every type of key", function()
  for _, name in ipairs { "every2.All", "every3.All" } do
    both(pb, name, { k_int32 = { [-1] = 5 } }, "8a 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 05")
    both(pb, name, { k_int64 = { [-2] = 5 } }, "92 05 0d 08 fe ff ff ff ff ff ff ff ff 01 10 05")
    both(pb, name, { k_uint32 = { [4294967295] = 5 } }, "9a 05 08 08 ff ff ff ff 0f 10 05")
    both(pb, name, { k_uint64 = { [300] = 5 } }, "a2 05 05 08 ac 02 10 05")
    both(pb, name, { k_sint32 = { [-3] = 5 } }, "aa 05 04 08 05 10 05")
    both(pb, name, { k_sint64 = { [-4] = 5 } }, "b2 05 04 08 07 10 05")
    both(pb, name, { k_fixed32 = { [6] = 5 } }, "ba 05 07 0d 06 00 00 00 10 05")
    both(pb, name, { k_fixed64 = { [7] = 5 } }, "c2 05 0b 09 07 00 00 00 00 00 00 00 10 05")
    both(pb, name, { k_sfixed32 = { [-8] = 5 } }, "ca 05 07 0d f8 ff ff ff 10 05")
    both(pb, name, { k_sfixed64 = { [-9] = 5 } }, "d2 05 0b 09 f7 ff ff ff ff ff ff ff 10 05")
    both(pb, name, { k_bool = { [true] = 5 } }, "da 05 04 08 01 10 05")
    both(pb, name, { k_string = { key = 5 } }, "e2 05 07 0a 03 6b 65 79 10 05")
  end
end)

h.test("every type of value", function()
  for _, name in ipairs { "every2.All", "every3.All" } do
    both(pb, name, { v_double = { a = 1.5 } }, "aa 06 0c 0a 01 61 11 00 00 00 00 00 00 f8 3f")
    both(pb, name, { v_float = { a = 1.5 } }, "b2 06 08 0a 01 61 15 00 00 c0 3f")
    both(pb, name, { v_int32 = { a = -1 } }, "ba 06 0e 0a 01 61 10 ff ff ff ff ff ff ff ff ff 01")
    both(pb, name, { v_int64 = { a = 5 } }, "c2 06 05 0a 01 61 10 05")
    both(pb, name, { v_uint32 = { a = 5 } }, "ca 06 05 0a 01 61 10 05")
    both(pb, name, { v_uint64 = { a = 5 } }, "d2 06 05 0a 01 61 10 05")
    both(pb, name, { v_sint32 = { a = -5 } }, "da 06 05 0a 01 61 10 09")
    both(pb, name, { v_sint64 = { a = -5 } }, "e2 06 05 0a 01 61 10 09")
    both(pb, name, { v_fixed32 = { a = 5 } }, "ea 06 08 0a 01 61 15 05 00 00 00")
    both(pb, name, { v_fixed64 = { a = 5 } }, "f2 06 0c 0a 01 61 11 05 00 00 00 00 00 00 00")
    both(pb, name, { v_sfixed32 = { a = -5 } }, "fa 06 08 0a 01 61 15 fb ff ff ff")
    both(pb, name, { v_sfixed64 = { a = -5 } }, "82 07 0c 0a 01 61 11 fb ff ff ff ff ff ff ff")
    both(pb, name, { v_bool = { a = true } }, "8a 07 05 0a 01 61 10 01")
    both(pb, name, { v_string = { a = "b" } }, "92 07 06 0a 01 61 12 01 62")
    both(pb, name, { v_bytes = { a = "\255" } }, "9a 07 06 0a 01 61 12 01 ff")
    both(pb, name, { v_color = { a = "BLUE" } }, "a2 07 05 0a 01 61 10 02")
    both(pb, name, { v_inner = { a = { a = 1 } } }, "aa 07 07 0a 01 61 12 02 08 01")
    both(pb, name, { n_inner = { [5] = { a = 1 } } }, "b2 07 06 08 05 12 02 08 01")
    both(pb, name, { v_all = { a = { k_int32 = { [1] = 2 } } } }, "ba 07 0c 0a 01 61 12 07 8a 05 04 08 01 10 02")
  end
end)

h.test("entries are written with key and value, zeros too", function()
  both(pb, "every3.All", { k_int32 = { [0] = 0 } }, "8a 05 04 08 00 10 00")
  both(pb, "every3.All", { k_bool = { [false] = 0 } }, "da 05 04 08 00 10 00")
  both(pb, "every3.All", { v_string = { [""] = "" } }, "92 07 04 0a 00 12 00")
  both(pb, "every3.All", { v_inner = { [""] = {} } }, "aa 07 04 0a 00 12 00")
  both(pb, "every3.All", { v_bool = { a = false } }, "8a 07 05 0a 01 61 10 00")
  both(pb, "every3.All", { v_color = { a = "RED" } }, "a2 07 05 0a 01 61 10 00")
end)

h.test("the empty map is not written", function()
  encodes(pb, "every3.All", { k_int32 = {}, v_inner = {} }, "")
end)

h.test("several entries", function()
  local map = {}
  for i = 1, 500 do
    map[i] = i * 2
  end
  h.eq(pb.decode("every3.All", pb.encode("every3.All", { k_int32 = map })), { k_int32 = map })
  decodes(pb, "every3.All", "e2 05 05 0a 01 61 10 01 18 07 e2 05 05 0a 01 62 10 02", { s_int32 = 7, k_string = { a = 1, b = 2 } })
end)

h.test("option sort_map orders the entries by key", function()
  local sorted = h.instance { sort_map = true }
  encodes(sorted, "every3.All", { k_string = { b = 2, a = 1, ab = 3 } },
    "e2 05 05 0a 01 61 10 01 e2 05 06 0a 02 61 62 10 03 e2 05 05 0a 01 62 10 02")
  encodes(sorted, "every3.All", { k_sint32 = { [1] = 1, [-1] = 2, [0] = 3 } }, "aa 05 04 08 01 10 02 aa 05 04 08 00 10 03 aa 05 04 08 02 10 01")
  encodes(sorted, "every3.All", { k_bool = { [true] = 1, [false] = 2 } }, "da 05 04 08 00 10 02 da 05 04 08 01 10 01")
  encodes(sorted, "every3.All", { k_uint32 = { 3, 2, 1 } }, "9a 05 04 08 01 10 03 9a 05 04 08 02 10 02 9a 05 04 08 03 10 01")
end)

h.test("64-bit keys that no number holds", function()
  local big, huge = "9007199254740993", "18446744073709551615"
  local key, top = big, huge
  if h.integers then
    key, top = h.int64(big), h.uint64(huge)
  end
  both(pb, "every3.All", { k_int64 = { [key] = 1 } }, "92 05 0b 08 81 80 80 80 80 80 80 10 10 01")
  both(pb, "every3.All", { k_fixed64 = { [top] = 1 } }, "c2 05 0b 09 ff ff ff ff ff ff ff ff 10 01")
  encodes(pb, "every3.All", { k_int64 = { [big] = 1 } }, "92 05 0b 08 81 80 80 80 80 80 80 10 10 01")
  encodes(pb, "every3.All", { k_fixed64 = { [huge] = 1 } }, "c2 05 0b 09 ff ff ff ff ff ff ff ff 10 01")
  both(pb, "every3.All", { k_int64 = { [h.int64 "4503599627370496"] = 1 } }, "92 05 0b 08 80 80 80 80 80 80 80 08 10 01")
end)

h.test("the last of equal keys wins, whole", function()
  decodes(pb, "every3.All", "e2 05 05 0a 01 61 10 01 e2 05 05 0a 01 61 10 02", { k_string = { a = 2 } })
  decodes(pb, "every3.All", "aa 07 07 0a 01 61 12 02 08 01 aa 07 08 0a 01 61 12 03 12 01 78", { v_inner = { a = { b = "x" } } })
end)

h.test("a missing key or value is the default", function()
  decodes(pb, "every3.All", "8a 05 02 10 05", { k_int32 = { [0] = 5 } })
  decodes(pb, "every3.All", "da 05 02 10 05", { k_bool = { [false] = 5 } })
  decodes(pb, "every3.All", "e2 05 02 10 05", { k_string = { [""] = 5 } })
  decodes(pb, "every3.All", "8a 05 02 08 05", { k_int32 = { [5] = 0 } })
  decodes(pb, "every3.All", "92 07 03 0a 01 61", { v_string = { a = "" } })
  decodes(pb, "every3.All", "8a 07 03 0a 01 61", { v_bool = { a = false } })
  decodes(pb, "every3.All", "a2 07 03 0a 01 61", { v_color = { a = "RED" } })
  decodes(pb, "every3.All", "aa 07 03 0a 01 61", { v_inner = { a = {} } })
  decodes(pb, "every3.All", "8a 05 00", { k_int32 = { [0] = 0 } })
  decodes(pb, "every3.All", "aa 07 00", { v_inner = { [""] = {} } })
end)

h.test("the value may come before the key, and twice", function()
  decodes(pb, "every3.All", "8a 05 04 10 02 08 01", { k_int32 = { [1] = 2 } })
  decodes(pb, "every3.All", "8a 05 08 08 01 10 02 08 03 10 04", { k_int32 = { [3] = 4 } })
  decodes(pb, "every3.All", "aa 07 0c 12 02 08 01 0a 01 61 12 03 12 01 78", { v_inner = { a = { a = 1, b = "x" } } })
end)

h.test("pbc's list of entries is taken", function()
  encodes(pb, "every3.All", { k_int32 = { { key = 1, value = 5 }, { key = 2, value = 6 } } }, "8a 05 04 08 01 10 05 8a 05 04 08 02 10 06")
  encodes(pb, "every3.All", { k_string = { { key = "b", value = 1 }, { key = "a", value = 2 } } },
    "e2 05 05 0a 01 62 10 01 e2 05 05 0a 01 61 10 02")
  encodes(pb, "every3.All", { v_inner = { { key = "a", value = { a = 1 } } } }, "aa 07 07 0a 01 61 12 02 08 01")
  encodes(pb, "every3.All", { n_inner = { { key = 5, value = { a = 1 } } } }, "b2 07 06 08 05 12 02 08 01")
  raises('every3.All.n_inner[1]', pb.encode, "every3.All", { n_inner = { { key = 5, value = {}, other = 1 } } })
end)

h.test("integer keys whose message has a field key or value are no list of entries", function()
  -- message Entry { optional int32 key = 1; }  message Holder { map<int32, Entry> map = 1; }
  local entry = h.message("MapEntry", { { "key", 1, 1, 5 }, { "value", 2, 1, 11, ".mapped.Entry" } }) .. h.field(7, "\56\1")
  local holder = h.message("Holder", { { "map", 1, 3, 11, ".mapped.Holder.MapEntry" } }) .. h.field(3, entry)
  local own = h.instance()
  own.register(h.file("mapped.proto", "mapped", { h.message("Entry", { { "key", 1, 1, 5 } }), holder }, "proto3"))
  encodes(own, "mapped.Holder", { map = { { key = 7 } } }, "0a 06 08 01 12 02 08 07")
end)

h.test("whole numbers in other clothes are keys too", function()
  encodes(pb, "every3.All", { k_int32 = { ["-1"] = 5 } }, "8a 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 05")
  encodes(pb, "every3.All", { k_uint32 = { ["0xff"] = 5 } }, "9a 05 05 08 ff 01 10 05")
  encodes(pb, "every3.All", { k_int64 = { [2 ^ 53] = 5 } }, "92 05 0b 08 80 80 80 80 80 80 80 10 10 05")
  encodes(pb, "every3.All", { k_uint64 = { [2 ^ 63] = 5 } }, "a2 05 0d 08 80 80 80 80 80 80 80 80 80 01 10 05")
  encodes(pb, "every3.All", { k_int32 = { [-1 / h.inf] = 5 } }, "8a 05 04 08 00 10 05")
end)

h.test("keys of another kind are refused", function()
  raises("every3.All.k_int32", pb.encode, "every3.All", { k_int32 = { a = 1 } })
  raises("every3.All.k_int32", pb.encode, "every3.All", { k_int32 = { [1.5] = 1 } })
  raises("every3.All.k_int32", pb.encode, "every3.All", { k_int32 = { [2147483648] = 1 } })
  raises("every3.All.k_uint32", pb.encode, "every3.All", { k_uint32 = { [-1] = 1 } })
  raises("every3.All.k_int32", pb.encode, "every3.All", { k_int32 = { [true] = 1 } })
  raises("every3.All.k_bool", pb.encode, "every3.All", { k_bool = { [1] = 1 } })
  raises("every3.All.k_bool", pb.encode, "every3.All", { k_bool = { ["true"] = 1 } })
  raises("every3.All.k_int32", pb.encode, "every3.All", { k_int32 = { [" 1"] = 1 } })
  raises("every3.All.k_string", pb.encode, "every3.All", { k_string = { [true] = 1 } })
  raises("every3.All.k_string", pb.encode, "every3.All", { k_string = { [1] = 1 } })
  raises("every3.All.k_string", pb.encode, "every3.All", { k_string = { [{}] = 1 } })
end)

h.test("a bad value is named by its key", function()
  raises('every3.All.k_string["bob"]: ', pb.encode, "every3.All", { k_string = { bob = "x" } })
  raises("every3.All.k_int32[5]: ", pb.encode, "every3.All", { k_int32 = { [5] = {} } })
  raises('every3.All.v_inner["bob"].a: ', pb.encode, "every3.All", { v_inner = { bob = { a = "x" } } })
  raises("every3.All.n_inner[-5].a: ", pb.encode, "every3.All", { n_inner = { [-5] = { a = "x" } } })
  raises('world.Snapshot.players["bob"].hp: ', pb.encode, "world.Snapshot", { players = { bob = { hp = "x" } } })
  raises('every3.All.v_inner["bob"]: expected table, got ', pb.encode, "every3.All", { v_inner = { bob = 5 } })
end)

h.test("only tables are maps", function()
  for _, value in ipairs { 5, "text", true, print } do
    raises("every3.All.k_int32: expected ...table...got ", pb.encode, "every3.All", { k_int32 = value })
  end
end)

h.test("a truncated entry is refused", function()
  refuses("every3.All.k_string", pb.decode("every3.All", h.bytes "e2 05 05 0a 01 61 10"))
  refuses("every3.All.k_string", pb.decode("every3.All", h.bytes "e2 05 03 0a 05 61"))
  refuses("every3.All.v_inner", pb.decode("every3.All", h.bytes "aa 07 07 0a 01 61 12 05 08 01"))
end)

h.test("option sort_map orders keys by their value, strings that hold numbers too", function()
  local own = h.instance()
  own.option("sort_map", true)
  local as_string = own.encode("every3.All", { k_int64 = { ["-5"] = 1, [1] = 2, ["30"] = 3 } })
  h.eq(as_string, own.encode("every3.All", { k_int64 = { [-5] = 1, [1] = 2, [30] = 3 } }))
end)
