//! Random messages of the every-feature schemas, through Lua tables and through prost-reflect's
//! `DynamicMessage`: both must see the same values, and refuse the same bytes.
//! Where prost-reflect is no oracle, see [`reflected`].
#![cfg(feature = "vendored")]

use std::collections::HashMap;
use std::fs;

use mlua::{Function, Lua, Table};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage,
    Value,
};

#[path = "support/reflected.rs"]
mod reflected;

use reflected::{closed, is_utf8, mismatched, same, same_number, same_value, strange, without_extensions};

/// Whether this Lua has integers of 64 bits.
const INTEGERS: bool = cfg!(any(feature = "lua53", feature = "lua54", feature = "lua55"));
const NAMES: [&str; 2] = ["every2.All", "every3.All"];

type Result<T> = std::result::Result<T, String>;

/// Random numbers, the same each time.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    /// A number of any size, often next to a power of two.
    fn number(&mut self) -> u64 {
        let power = 1u64 << self.below(64);
        match self.below(6) {
            0 => 0,
            1 => power,
            2 => power.wrapping_sub(1),
            3 => power.wrapping_add(1),
            4 => power.wrapping_neg(),
            _ => self.bits() >> self.below(64),
        }
    }

    fn double(&mut self) -> f64 {
        match self.below(8) {
            0 => 0.0,
            1 => -0.0,
            2 => f64::INFINITY,
            3 => f64::NAN,
            4 => self.below(1000) as f64,
            _ => Some(f64::from_bits(self.bits())).filter(|v| !v.is_nan()).unwrap_or(-1.5),
        }
    }

    fn float(&mut self) -> f32 {
        match self.below(4) {
            0 => self.double() as f32,
            _ => Some(f32::from_bits(self.bits() as u32)).filter(|v| !v.is_nan()).unwrap_or(-1.5),
        }
    }

    fn length(&mut self) -> usize {
        let most = [1, 8, 20, 200][self.below(4)];
        self.below(most)
    }

    fn text(&mut self) -> String {
        let letters = ['a', 'Z', '0', ' ', '\0', '\n', '"', 'ä', '€', '界', '🎉', '\u{10ffff}'];
        (0..self.length()).map(|_| letters[self.below(letters.len())]).collect()
    }

    fn scalar(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Double => Value::F64(self.double()),
            Kind::Float => Value::F32(self.float()),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(self.number() as i32),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(self.number() as i64),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(self.number() as u32),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(self.number()),
            Kind::Bool => Value::Bool(self.below(2) == 0),
            Kind::String => Value::String(self.text()),
            Kind::Bytes => Value::Bytes((0..self.length()).map(|_| self.bits() as u8).collect::<Vec<_>>().into()),
            Kind::Enum(plan) if !closed(plan) && self.below(4) == 0 => Value::EnumNumber(self.number() as i32),
            Kind::Enum(plan) => {
                let numbers: Vec<i32> = plan.values().map(|v| v.number()).collect();
                Value::EnumNumber(numbers[self.below(numbers.len())])
            }
            Kind::Message(_) => unreachable!("no scalar"),
        }
    }

    fn value(&mut self, kind: &Kind, levels: u32) -> Value {
        match kind {
            Kind::Message(desc) => Value::Message(self.message(desc, levels)),
            kind => self.scalar(kind),
        }
    }

    fn message(&mut self, desc: &MessageDescriptor, levels: u32) -> DynamicMessage {
        let mut message = DynamicMessage::new(desc.clone());
        let fields: Vec<FieldDescriptor> = desc.fields().collect();
        if fields.is_empty() {
            return message;
        }
        // Mostly few fields, now and then more than fit the encoder's list of them.
        let count = if self.below(20) == 0 { 100 } else { self.below(8) };
        for _ in 0..count {
            let field = &fields[self.below(fields.len())];
            let kind = field.kind();
            if levels == 0 && matches!(kind, Kind::Message(_)) && !field.is_map() {
                continue;
            }
            let size = self.below(5);
            let value = if field.is_map() {
                let Kind::Message(entry) = &kind else { unreachable!("a map") };
                let (key, value) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
                let size = if levels == 0 && matches!(value, Kind::Message(_)) { 0 } else { size };
                let mut entry = || (map_key(self.scalar(&key)), self.value(&value, levels.saturating_sub(1)));
                Value::Map((0..size).map(|_| entry()).collect::<HashMap<_, _>>())
            } else if field.is_list() {
                Value::List((0..size).map(|_| self.value(&kind, levels.saturating_sub(1))).collect())
            } else {
                self.value(&kind, levels.saturating_sub(1))
            };
            message.set_field(field, value);
        }
        message
    }

    /// Unknown fields of every wire type.
    fn unknown(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..self.below(4) {
            let number = 900 + self.below(50) as u32;
            match self.below(5) {
                0 => {
                    encode_key(number, WireType::Varint, &mut out);
                    encode_varint(self.number(), &mut out);
                }
                1 => {
                    encode_key(number, WireType::SixtyFourBit, &mut out);
                    out.extend(self.bits().to_le_bytes());
                }
                2 => {
                    encode_key(number, WireType::LengthDelimited, &mut out);
                    let bytes = self.text();
                    encode_varint(bytes.len() as u64, &mut out);
                    out.extend(bytes.bytes());
                }
                3 => {
                    encode_key(number, WireType::StartGroup, &mut out);
                    encode_key(7, WireType::Varint, &mut out);
                    encode_varint(self.number(), &mut out);
                    encode_key(number, WireType::EndGroup, &mut out);
                }
                _ => {
                    encode_key(number, WireType::ThirtyTwoBit, &mut out);
                    out.extend((self.bits() as u32).to_le_bytes());
                }
            }
        }
        out
    }

    /// Changes some of the bytes.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] = self.bits() as u8,
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes.insert(at, self.bits() as u8),
                3 => drop(bytes.remove(at)),
                4 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }
        }
    }
}

fn map_key(value: Value) -> MapKey {
    value.into_map_key().expect("a key")
}

/// This library in a Lua state, and prost-reflect's types.
struct Both {
    lua: Lua,
    pool: DescriptorPool,
    encode: Function,
    decode: Function,
    /// The decimal digits of a number of 64 bits.
    digits: Function,
    /// The number of 64 bits with these digits, as a value that decode gives.
    whole: Function,
    is_negative: Function,
}

const HELPERS: &str = r#"
    local protobuf = require "protobuf"
    local pb = protobuf.new { sort_map = true, required = "error" }
    local function digits(v)
      if type(v) == "number" then
        return (("%.0f"):format(v))
      end
      return (tostring(v):gsub("U?LL$", ""))
    end
    local function whole(text, unsigned)
      if not jit then
        return text
      end
      return loadstring("return " .. text .. (unsigned and "ULL" or "LL"))()
    end
    local function is_negative(v)
      return v < 0 or v == 0 and 1 / v < 0
    end
    return pb.register, pb.encode, pb.decode, digits, whole, is_negative
"#;

impl Both {
    fn new() -> Both {
        // SAFETY: the helpers use LuaJIT's numbers of 64 bits and do nothing else that is unsafe.
        let lua = unsafe { Lua::unsafe_new() };
        protobuf_lua::preload(&lua).expect("preloaded");
        let (register, encode, decode, digits, whole, is_negative): (Function, _, _, _, _, _) =
            lua.load(HELPERS).eval().expect("the helpers");
        let mut pool = DescriptorPool::new();
        for name in ["every2", "every3"] {
            let path = format!("{}/descriptors/{name}.pb", env!("CARGO_MANIFEST_DIR"));
            let bytes = fs::read(path).expect("the descriptors");
            let set = without_extensions(&bytes);
            register.call::<()>(lua.create_string(&set).expect("a string")).expect("registered");
            pool.decode_file_descriptor_set(&*set).expect("linked");
        }
        Both { lua, pool, encode, decode, digits, whole, is_negative }
    }

    fn desc(&self, name: &str) -> MessageDescriptor {
        self.pool.get_message_by_name(name).expect("the type")
    }

    fn decode(&self, name: &str, bytes: &[u8]) -> Result<Table> {
        let bytes = self.lua.create_string(bytes).expect("a string");
        let (result, message): (mlua::Value, Option<String>) = self.decode.call((name, bytes)).expect("no error");
        match result {
            mlua::Value::Table(table) => Ok(table),
            _ => Err(message.expect("a message")),
        }
    }

    fn encode(&self, name: &str, table: &Table) -> Result<Vec<u8>> {
        let bytes: mlua::Result<mlua::LuaString> = self.encode.call((name, table));
        bytes.map(|bytes| bytes.as_bytes().to_vec()).map_err(|error| error.to_string())
    }

    // Values to Lua ------------------------------------------------------------------------------------------------

    fn string(&self, bytes: &[u8]) -> mlua::Value {
        mlua::Value::String(self.lua.create_string(bytes).expect("a string"))
    }

    /// A whole number as the table of a careful program has it; `key` if it is the key of a map.
    fn whole(&self, number: i128, key: bool) -> mlua::Value {
        if INTEGERS {
            return mlua::Value::Integer(number as u64 as i64 as _);
        }
        if number.unsigned_abs() <= 1 << 53 {
            return mlua::Value::Number(number as f64);
        }
        let digits = number.to_string();
        if key {
            return self.string(digits.as_bytes());
        }
        self.whole.call((digits, number > i128::from(i64::MAX))).expect("a number")
    }

    fn name_of(&self, plan: &EnumDescriptor, number: i32) -> mlua::Value {
        // Of aliases, the one that is declared first.
        let proto = plan.enum_descriptor_proto();
        match proto.value.iter().find(|value| value.number() == number) {
            Some(value) => self.string(value.name().as_bytes()),
            None => self.whole(i128::from(number), false),
        }
    }

    fn to_lua(&self, kind: &Kind, value: &Value) -> mlua::Value {
        match value {
            Value::Bool(v) => mlua::Value::Boolean(*v),
            Value::I32(v) => self.whole(i128::from(*v), false),
            Value::I64(v) => self.whole(i128::from(*v), false),
            Value::U32(v) => self.whole(i128::from(*v), false),
            Value::U64(v) => self.whole(i128::from(*v), false),
            Value::F32(v) => mlua::Value::Number(f64::from(*v)),
            Value::F64(v) => mlua::Value::Number(*v),
            Value::String(v) => self.string(v.as_bytes()),
            Value::Bytes(v) => self.string(v),
            Value::EnumNumber(v) => match kind {
                Kind::Enum(plan) => self.name_of(plan, *v),
                _ => unreachable!("an enum"),
            },
            Value::Message(v) => mlua::Value::Table(self.to_table(v)),
            Value::List(v) => {
                let elements = v.iter().map(|value| self.to_lua(kind, value));
                mlua::Value::Table(self.lua.create_sequence_from(elements).expect("a list"))
            }
            Value::Map(v) => {
                let Kind::Message(entry) = kind else { unreachable!("a map") };
                let kind = entry.map_entry_value_field().kind();
                let map = self.lua.create_table().expect("a map");
                for (key, value) in v {
                    map.raw_set(self.key(key), self.to_lua(&kind, value)).expect("set");
                }
                mlua::Value::Table(map)
            }
        }
    }

    fn key(&self, key: &MapKey) -> mlua::Value {
        match key {
            MapKey::Bool(v) => mlua::Value::Boolean(*v),
            MapKey::I32(v) => self.whole(i128::from(*v), true),
            MapKey::I64(v) => self.whole(i128::from(*v), true),
            MapKey::U32(v) => self.whole(i128::from(*v), true),
            MapKey::U64(v) => self.whole(i128::from(*v), true),
            MapKey::String(v) => self.string(v.as_bytes()),
        }
    }

    fn to_table(&self, message: &DynamicMessage) -> Table {
        let table = self.lua.create_table().expect("a table");
        for (field, value) in message.fields() {
            table.raw_set(field.name(), self.to_lua(&field.kind(), value)).expect("set");
        }
        let mut unknown = Vec::new();
        message.unknown_fields().for_each(|field| field.encode(&mut unknown));
        if !unknown.is_empty() {
            table.raw_set("?unknown", self.string(&unknown)).expect("set");
        }
        table
    }

    // Values from Lua ----------------------------------------------------------------------------------------------

    /// Fails unless `got` is what decode has to give for `want`.
    fn compare(&self, kind: &Kind, got: &mlua::Value, want: &Value) -> Result<()> {
        let fits = match (want, got) {
            (Value::Message(want), mlua::Value::Table(got)) => return self.compare_table(got, want),
            (Value::List(want), mlua::Value::Table(got)) => {
                if pairs(got) != want.len() {
                    return Err(format!("{} elements, not {}", pairs(got), want.len()));
                }
                for (i, want) in (1..).zip(want) {
                    let got: mlua::Value = got.raw_get(i).expect("got");
                    self.compare(kind, &got, want).map_err(|e| format!("[{i}]{e}"))?;
                }
                return Ok(());
            }
            (Value::Map(want), mlua::Value::Table(got)) => {
                let Kind::Message(entry) = kind else { unreachable!("a map") };
                let kind = entry.map_entry_value_field().kind();
                if pairs(got) != want.len() {
                    return Err(format!("{} entries, not {}", pairs(got), want.len()));
                }
                for (key, want) in want {
                    let got: mlua::Value = got.raw_get(self.key(key)).expect("got");
                    self.compare(&kind, &got, want).map_err(|e| format!("[{key:?}]{e}"))?;
                }
                return Ok(());
            }
            (Value::F32(want), got) => self.is_number(got, f64::from(*want)),
            (Value::F64(want), got) => self.is_number(got, *want),
            (Value::Bool(want), mlua::Value::Boolean(got)) => want == got,
            (Value::String(want), mlua::Value::String(got)) => *got.as_bytes() == *want.as_bytes(),
            (Value::Bytes(want), mlua::Value::String(got)) => *got.as_bytes() == **want,
            (Value::I32(want), got) => self.is_whole(got, i128::from(*want)),
            (Value::I64(want), got) => self.is_whole(got, i128::from(*want)),
            (Value::U32(want), got) => self.is_whole(got, i128::from(*want)),
            (Value::U64(want), got) => self.is_whole(got, i128::from(*want)),
            (Value::EnumNumber(want), got) => match (kind, got) {
                (Kind::Enum(plan), mlua::Value::String(_)) => self.name_of(plan, *want) == *got,
                (Kind::Enum(plan), got) => plan.get_value(*want).is_none() && self.is_whole(got, i128::from(*want)),
                _ => false,
            },
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!(": {got:?} instead of {want:?}")) }
    }

    fn is_number(&self, got: &mlua::Value, want: f64) -> bool {
        let number = match got {
            mlua::Value::Integer(v) if !INTEGERS => *v as f64,
            mlua::Value::Number(v) => *v,
            _ => return false,
        };
        // As an integer, a zero lost its sign on its way here.
        let negative: bool = self.is_negative.call(got).expect("a boolean");
        number.is_nan() && want.is_nan()
            || number == want
                && (want != 0.0 || INTEGERS || negative == want.is_sign_negative())
                && (!INTEGERS || same_number(number, want))
    }

    #[allow(clippy::unnecessary_cast)]
    fn is_whole(&self, got: &mlua::Value, want: i128) -> bool {
        match got {
            mlua::Value::Integer(got) if INTEGERS => *got as i64 == want as u64 as i64,
            _ if INTEGERS => false,
            // Exact numbers are numbers, others are not.
            mlua::Value::Integer(_) | mlua::Value::Number(_) if want.unsigned_abs() > 1 << 53 => false,
            got => self.digits.call::<String>(got).expect("digits") == want.to_string(),
        }
    }

    fn compare_table(&self, got: &Table, want: &DynamicMessage) -> Result<()> {
        let mut expected = 0;
        for field in want.descriptor().fields() {
            let value: mlua::Value = got.raw_get(field.name()).expect("got");
            if value.is_nil() {
                let default = !field.supports_presence() || field.is_list() || field.is_map();
                let zero = Value::default_value_for_field(&field);
                let absent = if default { same_value(&zero, &want.get_field(&field)) } else { !want.has_field(&field) };
                if !absent {
                    return Err(format!(".{} is missing", field.name()));
                }
                continue;
            }
            expected += 1;
            if field.supports_presence() && !want.has_field(&field) {
                return Err(format!(".{} should be absent, is {value:?}", field.name()));
            }
            let compared = self.compare(&field.kind(), &value, &want.get_field(&field));
            compared.map_err(|e| format!(".{}{e}", field.name()))?;
        }
        let raw: Option<mlua::LuaString> = got.raw_get("?unknown").expect("got");
        expected += usize::from(raw.is_some());
        let raw = raw.map_or(Vec::new(), |raw| raw.as_bytes().to_vec());
        let unknown = DynamicMessage::decode(want.descriptor(), &*raw).map_err(|e| format!(".?unknown: {e}"))?;
        if !unknown.unknown_fields().eq(want.unknown_fields()) {
            return Err(format!(".?unknown: {raw:?}"));
        }
        if pairs(got) != expected {
            return Err(format!(": {} keys, not {expected}", pairs(got)));
        }
        Ok(())
    }
}

fn pairs(table: &Table) -> usize {
    table.pairs::<mlua::Value, mlua::Value>().count()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn random_messages() {
    let both = Both::new();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for name in NAMES {
        let desc = both.desc(name);
        for round in 0..1500 {
            let mut bytes = random.message(&desc, 3).encode_to_vec();
            bytes.extend(random.unknown());
            let message = DynamicMessage::decode(desc.clone(), &*bytes).expect("its own bytes");
            let say = |what: &str| format!("{name}, message {round}: {what}\n  of {}", hex(&bytes));

            let table = both.decode(name, &bytes).unwrap_or_else(|e| panic!("{}", say(&e)));
            both.compare_table(&table, &message).unwrap_or_else(|e| panic!("{}", say(&e)));
            let again = both.encode(name, &table).unwrap_or_else(|e| panic!("{}", say(&e)));
            let read =
                DynamicMessage::decode(desc.clone(), &*again).unwrap_or_else(|e| panic!("{}", say(&e.to_string())));
            assert!(same(&message, &read), "{}", say(&format!("re-encoded as {}", hex(&again))));

            // The same values, put together by hand.
            let table = both.to_table(&message);
            let built = both.encode(name, &table).unwrap_or_else(|e| panic!("{}", say(&e)));
            let read =
                DynamicMessage::decode(desc.clone(), &*built).unwrap_or_else(|e| panic!("{}", say(&e.to_string())));
            assert!(same(&message, &read), "{}", say(&format!("encoded as {}", hex(&built))));
        }
    }
}

#[test]
fn mutated_bytes() {
    let both = Both::new();
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let (mut accepted, mut refused, mut exempt) = (0, 0, 0);
    for name in NAMES {
        let desc = both.desc(name);
        for _ in 0..6000 {
            let mut bytes = random.message(&desc, 2).encode_to_vec();
            bytes.extend(random.unknown());
            // Two messages in a row merge.
            match random.below(3) {
                0 => bytes.extend(random.message(&desc, 2).encode_to_vec()),
                _ => random.mutate(&mut bytes),
            }
            let say = |what: &str| format!("{name}: {what}\n  of {}", hex(&bytes));
            let decoded = both.decode(name, &bytes);
            if mismatched(&desc, &mut &*bytes).unwrap_or(false) {
                exempt += 1;
                continue;
            }
            match (decoded, DynamicMessage::decode(desc.clone(), &*bytes)) {
                (Ok(table), Ok(message)) => {
                    if strange(&message) {
                        exempt += 1;
                        continue;
                    }
                    accepted += 1;
                    both.compare_table(&table, &message).unwrap_or_else(|e| panic!("{}", say(&e)));
                    let again = both.encode(name, &table).unwrap_or_else(|e| panic!("{}", say(&e)));
                    let read = DynamicMessage::decode(desc.clone(), &*again)
                        .unwrap_or_else(|e| panic!("{}", say(&e.to_string())));
                    assert!(same(&message, &read), "{}", say(&format!("re-encoded as {}", hex(&again))));
                }
                (Err(_), Err(_)) => refused += 1,
                (Ok(_), Err(error)) => {
                    let error = error.to_string();
                    assert!(is_utf8(&error) && name == "every2.All", "{}", say(&format!("accepted, though {error}")));
                    exempt += 1;
                }
                (Err(error), Ok(_)) => panic!("{}", say(&format!("refused: {error}"))),
            }
        }
    }
    println!("{accepted} accepted, {refused} refused, {exempt} where prost-reflect departs from the specification");
    assert!(accepted > 1000 && refused > 1000 && exempt < 4000);
}
