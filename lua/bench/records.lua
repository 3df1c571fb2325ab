-- The messages of the benchmarks. `build` makes a message's table from strings that exist already, so a loop over it is
-- what Lua itself needs to make what decode returns: the floor that decode is measured against.
local records = {}

local people = {}
for i = 1, 50 do
  people[i] = { "name" .. i, "user" .. i .. "@example.com", "130" .. i, "131" .. i }
end

records[1] = {
  name = "AddressBook",
  file = "addressbook.pb",
  type = "tutorial.AddressBook",
  build = function()
    local list = {}
    for i = 1, 50 do
      local strings = people[i]
      list[i] = {
        name = strings[1],
        id = i * 7,
        email = strings[2],
        phone = { { number = strings[3], type = "HOME" }, { number = strings[4], type = "WORK" } },
      }
    end
    return { person = list }
  end,
}

records[2] = {
  name = "Snapshot",
  file = "world.pb",
  type = "world.Snapshot",
  build = function()
    local list = {}
    for i = 1, 200 do
      list[i] = { id = 1000 + i, x = i * 1.5, y = i * 0.25, z = 3.5, hp = 300 - i, buffs = { 1, 2, 3, i } }
    end
    return { entities = list }
  end,
}

records[3] = {
  name = "Order",
  file = "order.pb",
  type = "shop.Order",
  build = function()
    return {
      id = 7301,
      code = "ORD-2024-07301",
      customer = { id = 42, name = "Alice Liddell", email = "alice@example.com" },
      items = {
        { sku = "TEA-001", name = "Darjeeling, 250 g", quantity = 2, unit_price = 12.5 },
        { sku = "CUP-017", name = "Cup and saucer", quantity = 4, unit_price = 8.25 },
        { sku = "HAT-106", name = "Top hat", quantity = 1, unit_price = 49.9 },
      },
      total = 107.9,
      status = "PAID",
    }
  end,
}

return records
