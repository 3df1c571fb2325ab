//! How long the chains of Lua's tables are, from a random sample of the keys that are in them.
//!
//! A key is in the sample if a secret function of it is below a bound, however often it comes, and wherever it is put. So
//! one that comes again and again takes no room from others.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::vm::hash::{self, Numbers};

/// Keys of a call that go by before any is looked at, and keys of a table whose chains do no harm.
pub const FREE: u32 = 256;
/// How many keys the sample has at most. When it is full, the bound is halved.
const ROOM: usize = 512;
/// The first bound: one key of 16.
const FIRST: u32 = 4;
/// One of so many keys is looked at, for the chain that it is in.
const GAP: u32 = 256;
/// Bytes of the budget that a step along a chain is charged: filling memory takes about as long.
const STEP: f64 = 4.0;
/// So many bytes of strings that may have to be compared cost one more.
const COMPARED: f64 = 16.0;
/// So many collisions are chance, and so many times those to be expected.
const CHANCE: (f64, f64) = (8.0, 4.0);

/// A key of a table, or a string.
#[derive(Clone, Copy)]
pub struct Key {
    /// The address of its table, 0 for that of all strings.
    pub table: usize,
    /// Tells it from others, at random.
    pub random: u64,
    /// What its slot is computed from.
    pub hash: u64,
    /// Of an integer, its value.
    pub number: u64,
    /// Of a string, how many bytes it has.
    pub length: Option<usize>,
}

impl Key {
    fn slot(&self, bits: u32, numbers: Numbers) -> u64 {
        if self.length.is_some() { hash::string_slot(self.hash, bits) } else { numbers.slot(self.hash, bits) }
    }
}

/// A hash of what is random already.
#[derive(Default)]
struct AsRandom(u64);

impl Hasher for AsRandom {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, v: u64) {
        self.0 ^= v;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The sample of one call.
#[derive(Default)]
pub struct Chains {
    kept: Vec<Key>,
    known: HashSet<(usize, u64), BuildHasherDefault<AsRandom>>,
    /// One of `1 << shift` keys is in the sample.
    shift: u32,
    /// Tables of one size: the logarithm of how many slots they have.
    sizes: HashMap<usize, u32>,
    /// Keys of the sample that those looked at share a slot with, and how many would by chance.
    found: f64,
    expected: f64,
    /// What the steps cost of all that came, and how much of that is charged.
    cost: f64,
    charged: f64,
    random: u64,
}

impl Chains {
    /// Begins anew. `seed` is random, and not 0.
    pub fn begin(&mut self, seed: u64) {
        self.kept.clear();
        self.known.clear();
        self.sizes.clear();
        self.shift = FIRST;
        (self.found, self.expected, self.cost, self.charged) = (0.0, 0.0, 0.0, 0.0);
        self.random = seed;
    }

    /// Keys are in the sample whose random number is below this.
    pub fn bound(&self) -> u64 {
        u64::MAX >> self.shift
    }

    /// How many go by until the next that is looked at: none can know which that is.
    pub fn distance(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as u32 % (2 * GAP - 1) + 1
    }

    /// A table was made for `count` keys, and will be put no more into.
    pub fn sized(&mut self, table: usize, count: usize) {
        self.sizes.insert(table, count.max(1).next_power_of_two().ilog2());
    }

    /// More is put into a table after all.
    pub fn resized(&mut self, table: usize) {
        self.sizes.remove(&table);
    }

    /// Takes a key into the sample, unless it is there.
    pub fn keep(&mut self, key: Key) {
        if !self.known.insert((key.table, key.random)) {
            return;
        }
        self.kept.push(key);
        while self.kept.len() >= ROOM && self.shift < u64::BITS - 1 {
            self.shift += 1;
            let bound = self.bound();
            self.kept.retain(|key| key.random < bound);
            self.known.retain(|(_, random)| *random < bound);
        }
    }

    /// Looks at the chain that a key is in. Answers what is to be charged.
    pub fn look(&mut self, key: Key, numbers: Numbers) -> u64 {
        let (count, expected) = self.collisions(key, numbers);
        let bytes = STEP + key.length.unwrap_or_default() as f64 / COMPARED;
        self.found += count;
        self.expected += expected;
        // On average it is found halfway along its chain.
        self.cost += self.all(count) / 2.0 * bytes * f64::from(GAP);
        if is_chance(self.found, self.expected) {
            return 0;
        }
        let more = self.cost - self.charged;
        self.charged = self.cost;
        more as u64
    }

    /// How many keys `count` of the sample stand for.
    fn all(&self, count: f64) -> f64 {
        count * f64::from(self.shift).exp2()
    }

    /// How many keys of the sample share the slot of `key`, and how many would by chance.
    fn collisions(&self, key: Key, numbers: Numbers) -> (f64, f64) {
        let beside = |other: &&Key| other.table == key.table && other.length.is_some() == key.length.is_some();
        let count = self.kept.iter().filter(beside).count() as f64;
        let all = self.all(count);
        if all < f64::from(FREE) {
            return (0.0, 0.0);
        }
        let shared = |bits| {
            let slot = key.slot(bits, numbers);
            let others = self.kept.iter().filter(beside).filter(|other| other.random != key.random);
            let found = others.filter(|other| other.slot(bits, numbers) == slot).count();
            (found as f64, count / f64::from(bits).exp2())
        };
        if let Some(bits) = self.sizes.get(&key.table) {
            return shared(*bits);
        }
        let bits = all.log2() as u32;
        let found = shared(bits);
        // There the lower bits of hashes count, so that fewer make no chain shorter.
        if key.length.is_some() {
            return found;
        }
        // The table has grown, to whatever size. Its integers may stand apart in an array, and the others have fewer slots.
        let in_array = |other: &&Key| (1..=2 * all as u64).contains(&other.number);
        let apart = self.kept.iter().filter(beside).filter(in_array).count() as f64;
        let least = self.all(count - apart).max(f64::from(FREE)).log2() as u32;
        let larger = shared(bits + 1);
        let usual = if larger.0 > found.0 { larger } else { found };
        (least..bits).map(shared).find(|(found, expected)| !is_chance(*found, *expected)).unwrap_or(usual)
    }
}

/// Whether so many collisions may come about by chance.
fn is_chance(found: f64, expected: f64) -> bool {
    found <= CHANCE.0 + CHANCE.1 * expected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The multiplier of Fibonacci hashing: random enough.
    fn scattered(i: u64) -> u64 {
        i.wrapping_add(77).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    fn number(key: u64) -> Key {
        Key { table: 1, random: scattered(key), hash: key, number: key, length: None }
    }

    /// What is charged for keys of table 1, made for `count` if that is known.
    fn charged(numbers: Numbers, count: Option<usize>, keys: impl Iterator<Item = Key>) -> f64 {
        let mut chains = Chains::default();
        chains.begin(1);
        if let Some(count) = count {
            chains.sized(1, count);
        }
        let (mut sum, mut left) = (0, FREE);
        for key in keys {
            if key.random < chains.bound() {
                chains.keep(key);
            }
            left -= 1;
            if left == 0 {
                sum += chains.look(key, numbers);
                left = chains.distance();
            }
        }
        sum as f64
    }

    fn assert_near(charged: f64, steps: f64) {
        let expected = steps * STEP;
        assert!(charged > expected / 2.0 && charged < expected * 2.0, "{charged} of {expected}");
    }

    /// Half of the square of their number is steps.
    #[test]
    fn keys_in_one_chain_are_charged_for_each_step() {
        for n in [4_000, 100_000] {
            for count in [None, Some(n as usize)] {
                let charged = charged(Numbers::Mask, count, (0..n).map(|i| number(i << 24)));
                assert_near(charged, (n * n / 4) as f64);
            }
        }
    }

    #[test]
    fn keys_in_many_chains_are_charged() {
        let keys = (0..400_000).map(|i| number(((i / 100) << 24) | (i % 100)));
        assert_near(charged(Numbers::Mask, None, keys), 400_000.0 * 1_000.0);
    }

    /// A thousand keys in one chain, again and again.
    #[test]
    fn keys_that_come_again_are_charged_for_what_they_pass() {
        let keys = (0..400_000).map(|i| number((i * 7919 % 1000) << 24));
        assert_near(charged(Numbers::Mask, None, keys), 400_000.0 * 500.0);
    }

    /// The last of some thousands, again and again, alone and with a new one now and then.
    #[test]
    fn one_key_that_comes_again_is_charged_for_what_it_passes() {
        let first = (0..4_000).map(|i| number(i << 24));
        let again = (0..100_000).map(|_| number(3_999 << 24));
        assert_near(charged(Numbers::Mask, Some(4_000), first.chain(again)), 100_000.0 * 2_000.0);
        let new = (0..200_000).map(|i| number(if i % 64 == 0 { i << 24 } else { 0 }));
        assert_near(charged(Numbers::Mask, None, new), 200_000.0 * 3_125.0 / 4.0);
    }

    /// Keys that collide among many that do not.
    #[test]
    fn a_chain_among_others_is_charged() {
        let usual = (0..200_000).map(|i| number(2 * i + 1));
        let chain = (0..4_000).map(|i| number(i << 24));
        let again = (0..100_000).map(|i| number((i % 4_000) << 24));
        let charged = charged(Numbers::Mask, None, usual.chain(chain).chain(again));
        assert!(charged > 100_000.0 * 1_000.0 && charged < 100_000.0 * 16_000.0, "{charged}");
    }

    /// Those that an array takes are in no slot, so that the table has fewer.
    #[test]
    fn a_chain_beside_an_array_is_charged() {
        let array = (1..=60_000).map(number);
        // They share a slot of 4,096 only.
        let chain = (0..4_000).map(|i| number((1 << 40) + i * 4095));
        assert!(charged(Numbers::Remainder, None, array.chain(chain)) > 1_000_000.0);
    }

    /// Of strings so long, their first bytes do not count.
    #[test]
    fn long_strings_in_one_chain_are_charged_for_what_is_compared() {
        let text = |i: u64, length: usize| {
            let mut text = vec![b'a'; length];
            text.splice(..4, (i as u32).to_le_bytes());
            Key { table: 1, random: scattered(i), hash: hash::string(&text), number: 0, length: Some(length) }
        };
        let [short, long] =
            [200, 20_000].map(|length| charged(Numbers::Mask, None, (0..15_000).map(|i| text(i, length))));
        let ratio = (STEP + 20_000.0 / COMPARED) / (STEP + 200.0 / COMPARED);
        assert!(short > 0.0 && (long / short / ratio - 1.0).abs() < 0.1, "{long} and {short}");
    }

    #[test]
    fn usual_keys_are_charged_next_to_nothing() {
        let usual: [fn(u64) -> u64; 5] = [|i| i, |i| i * 10, |_| 7, |i| i % 100, |i| scattered(i) >> 16];
        for n in [1_000, 10_000, 100_000, 1_000_000] {
            for numbers in [Numbers::Mask, Numbers::Remainder] {
                for (at, keys) in usual.iter().enumerate() {
                    for count in [None, Some(n as usize)] {
                        let charged = charged(numbers, count, (0..n).map(keys).map(number));
                        assert!(charged <= n as f64 * 20.0, "{charged} for {n} of {at} by {numbers:?} {count:?}");
                    }
                }
            }
        }
        // One less than a power of two that the number of slots is not: hours, and what divides 65,535.
        for (n, stride) in [(20_000, 3600), (200_000, 65_535), (400_000, 4_161), (1_100_000, 33_000)] {
            let charged = charged(Numbers::Remainder, Some(n as usize), (0..n).map(|i| number(i * stride)));
            assert!(charged <= n as f64 * 20.0, "{charged} for {n} times {stride}");
        }
    }
}
