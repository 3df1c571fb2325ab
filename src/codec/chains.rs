//! How long the chains of Lua's tables are, from a sample of what is in them.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};

use crate::vm::hash::{self, Numbers};

/// How many are kept. When there are so many, half of them are dropped, and fewer taken from there on.
const ROOM: usize = 256;
/// Keys and strings of a call that go by before any is looked at: if all collide, they cost some hundredths of a second.
pub const FREE: u32 = 4096;
/// How many each of the first stands for.
const FIRST: u32 = 16;
/// Bytes of the budget that a step along a chain is charged: filling memory takes about as long.
const STEP: f64 = 4.0;
/// So many bytes of strings that may have to be compared cost one more.
const COMPARED: f64 = 16.0;
/// So many colliding pairs in a sample are chance, and so many times those to be expected.
const CHANCE: (f64, f64) = (8.0, 4.0);

/// A key or string that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// The address of its table, 0 for that of all strings.
    table: usize,
    is_text: bool,
    slot: u64,
    hash: u64,
    /// Tells those with one hash apart.
    identity: u64,
    /// Of a string, how many bytes it has.
    length: usize,
}

impl Sample {
    /// A number as key of a table.
    pub fn number(table: usize, hash: u64, bits: u64) -> Sample {
        Sample { table, is_text: false, slot: 0, hash, identity: bits, length: 0 }
    }

    /// A string, as key of a table unless that is 0.
    pub fn string(table: usize, bytes: &[u8]) -> Sample {
        let mut content = DefaultHasher::new();
        bytes.hash(&mut content);
        let table = if hash::is_interned(bytes) { 0 } else { table };
        let hash = hash::string(bytes);
        Sample { table, is_text: true, slot: 0, hash, identity: content.finish(), length: bytes.len() }
    }

    fn place(&mut self, bits: u32, numbers: Numbers) {
        self.slot = if self.is_text { hash::string_slot(self.hash, bits) } else { numbers.slot(self.hash, bits) };
    }
}

/// The sample of one call.
#[derive(Default)]
pub struct Chains {
    taken: Vec<Sample>,
    stride: u32,
    charged: f64,
    random: u64,
}

impl Chains {
    /// Begins anew.
    pub fn clear(&mut self) {
        self.taken.clear();
        self.stride = FIRST;
        self.charged = 0.0;
        if self.random == 0 {
            self.random = RandomState::new().hash_one(0) | 1;
        }
    }

    /// How many go by until the next that is looked at: none can know which that is.
    pub fn distance(&mut self) -> u32 {
        (self.number() % u64::from(self.stride.saturating_mul(2).saturating_sub(1).max(1))) as u32 + 1
    }

    /// Takes one more, of `input` bytes. Answers what is to be charged for the steps that were not charged yet.
    pub fn add(&mut self, sample: Sample, numbers: Numbers, input: usize) -> u64 {
        self.taken.push(sample);
        if self.taken.len() < ROOM {
            return 0;
        }
        let due = cost(&mut self.taken, self.stride, numbers, input);
        let more = (due - self.charged).max(0.0);
        self.charged += more;
        while self.taken.len() > ROOM / 2 {
            let any = self.number() as usize % self.taken.len();
            self.taken.swap_remove(any);
        }
        self.stride = self.stride.saturating_mul(2);
        more as u64
    }

    fn number(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }
}

/// What a table's sample tells.
#[derive(Clone, Copy, Default)]
struct Collisions {
    pairs: f64,
    expected: f64,
    /// Of all steps, in bytes of the budget.
    cost: f64,
}

/// What the steps along chains cost that all take, of which `taken` are one of `stride` each; 0 if that may be chance.
fn cost(taken: &mut [Sample], stride: u32, numbers: Numbers, input: usize) -> f64 {
    taken.iter_mut().for_each(|sample| sample.slot = 0);
    taken.sort_unstable();
    let mut sum = Collisions::default();
    // An entry takes two bytes at least, and tables are made for as many as there are.
    let most = (input / 2).max(1).ilog2() + 1;
    let sampled = taken.len() as f64 * f64::from(stride);
    let beyond = 1.0 + f64::from(FREE) / sampled;
    for table in taken.chunk_by_mut(|a, b| (a.table, a.is_text) == (b.table, b.is_text)) {
        let worst = worst(table, f64::from(stride), beyond, numbers, most);
        sum.pairs += worst.pairs;
        sum.expected += worst.expected;
        sum.cost += worst.cost;
    }
    if sum.pairs > CHANCE.0 + CHANCE.1 * sum.expected { sum.cost } else { 0.0 }
}

/// The collisions in one table, at the number of slots at which there are most. The table may have more slots than its
/// keys need, but not fewer, and not more than `most` bits tell apart; it has `beyond` times the keys that the sample
/// stands for.
fn worst(table: &mut [Sample], stride: f64, beyond: f64, numbers: Numbers, most: u32) -> Collisions {
    let all = table.len() as f64;
    if all < 2.0 {
        return Collisions::default();
    }
    // Estimates of keys that are repeated are rough.
    let keys = distinct(table, stride);
    let least = match kinds(table) < all {
        true => (keys.log2() as u32).saturating_sub(1),
        false => (keys * beyond * 0.8).log2().ceil() as u32,
    };
    let mut worst = Collisions::default();
    // Where a mask makes slots of hashes, those that differ in fewer bits differ in more.
    let masked = numbers == Numbers::Mask || table.iter().all(|sample| sample.is_text);
    let most = if masked { least } else { most.max(least) };
    for bits in least..=most {
        table.iter_mut().for_each(|sample| sample.place(bits, numbers));
        table.sort_unstable();
        let mut found = Collisions { expected: all * all / 2.0 / f64::from(bits).exp2(), ..Collisions::default() };
        for chain in table.chunk_by(|a, b| a.slot == b.slot) {
            let kinds = kinds(chain);
            if kinds > 1.0 {
                found.pairs += kinds * (kinds - 1.0) / 2.0;
                let bytes: f64 = chain.iter().map(|sample| STEP + sample.length as f64 / COMPARED).sum();
                found.cost += bytes * stride * distinct(chain, stride) / 2.0;
            }
        }
        if found.cost > worst.cost {
            worst = found;
        }
    }
    worst
}

/// How many differ in a sorted sample.
fn kinds(sorted: &[Sample]) -> f64 {
    sorted.chunk_by(|a, b| a.identity == b.identity).count() as f64
}

/// How many differ among all of which the sorted sample is one of `stride` each: the more of a sample are repeated, the
/// fewer there are.
fn distinct(sorted: &[Sample], stride: f64) -> f64 {
    let (all, kinds) = (sorted.len() as f64, kinds(sorted));
    let repeated = all - kinds;
    if repeated >= kinds { kinds } else { (all * all / 2.0 / repeated).min(kinds * stride) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is charged for numbers as keys of one table.
    fn charged(numbers: Numbers, keys: impl Iterator<Item = u64>) -> u64 {
        charged_for(numbers, keys.map(|key| Sample::number(1, key, key)))
    }

    fn charged_for(numbers: Numbers, samples: impl Iterator<Item = Sample>) -> u64 {
        let mut chains = Chains::default();
        chains.clear();
        let mut sum = 0;
        let mut left = FREE;
        for sample in samples {
            left -= 1;
            if left == 0 {
                sum += chains.add(sample, numbers, 1 << 25);
                left = chains.distance();
            }
        }
        sum
    }

    /// In proportion to the square of their number: half of it is steps.
    #[test]
    fn keys_in_one_chain_are_charged_for_each_step() {
        let steps = 100_000.0 * 100_000.0 / 2.0 * STEP;
        let charged = charged(Numbers::Mask, (0..100_000).map(|i| i << 24)) as f64;
        assert!(charged > steps / 4.0 && charged < steps * 2.0, "{charged} of {steps}");
    }

    #[test]
    fn keys_in_many_chains_are_charged() {
        assert!(charged(Numbers::Mask, (0..400_000).map(|i| ((i / 100) << 24) | (i % 100))) > 1_000_000_000);
    }

    /// Of strings so long, their first bytes do not count.
    #[test]
    fn long_strings_in_one_chain_are_charged_for_what_is_compared() {
        let strings = |length: usize| {
            (0..15_000u32).map(move |i| {
                let rest = vec![b'a'; length - 4];
                Sample::string(1, &[&i.to_le_bytes(), &*rest].concat())
            })
        };
        let [short, long] = [200, 20_000].map(|length| charged_for(Numbers::Mask, strings(length)) as f64);
        let ratio = (STEP + 20_000.0 / COMPARED) / (STEP + 200.0 / COMPARED);
        assert!(short > 0.0 && long / short > ratio / 2.0 && long / short < ratio * 2.0, "{long} and {short}");
    }

    /// A thousand keys in one chain, again and again.
    #[test]
    fn keys_that_come_again_are_charged_for_what_they_pass() {
        let steps = 400_000.0 * 500.0 * STEP;
        let charged = charged(Numbers::Mask, (0..400_000).map(|i| (i * 7919 % 1000) << 24)) as f64;
        assert!(charged > steps / 4.0 && charged < steps * 4.0, "{charged} of {steps}");
    }

    #[test]
    fn usual_keys_are_charged_next_to_nothing() {
        // The times of hours, which 2^12 - 1 would be no good number of slots for.
        let hours = charged(Numbers::Remainder, (0..20_000).map(|i| i * 3600));
        assert!(hours <= 20_000 * 20, "{hours}");
        let scattered = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        for n in [10_000, 100_000, 1_000_000] {
            for numbers in [Numbers::Mask, Numbers::Remainder] {
                for keys in [|i| i, |i| i * 10, |_| 7, |i| i % 100] as [fn(u64) -> u64; 4] {
                    let charged = charged(numbers, (0..n).map(keys));
                    assert!(charged <= n * 20, "{charged} for {n} by {numbers:?}");
                }
                assert!(charged(numbers, (0..n).map(scattered)) <= n * 20, "{n}");
            }
        }
    }
}
