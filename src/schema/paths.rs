//! Dotted names of a pattern: which messages they enter, and where their values go.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::hint::{did_you_mean, quoted};
use super::pattern::{Slot, reduce};
use super::plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, Op};
use super::set::Set;
use crate::error::SchemaError;

/// Names that one dotted name joins at most.
const MOST_PARTS: usize = 100;

/// What dotted names need beside the plans.
#[derive(Debug)]
pub struct Paths {
    /// What is named, in the order of the pattern.
    pub leaves: Box<[Leaf]>,
    /// The entered fields, by their [`FieldPlan::sub`].
    pub entered: Box<[Entered]>,
    /// How many lists within lists there are; see [`Leaf::inner`].
    pub inner: usize,
    /// A name that goes through a list.
    pub through_list: Option<Box<str>>,
}

impl Paths {
    /// A name goes through no more lists.
    pub const MOST_LISTS: usize = 16;

    /// The bit of a leaf; 0 if there is none left.
    #[inline(always)]
    pub fn bit(leaf: u16) -> u64 {
        1u64.checked_shl(u32::from(leaf)).unwrap_or(0)
    }
}

/// A field at the end of a name.
#[derive(Debug)]
pub struct Leaf {
    /// The field, in the plan of its message.
    pub field: FieldPlan,
    /// Its default.
    pub default: Default,
    /// How many lists the name goes through. Its value is in as many lists.
    pub lists: usize,
    /// The first of its lists within lists, among those of all leaves.
    pub inner: usize,
}

/// A field of which fields are named.
#[derive(Debug)]
pub struct Entered {
    /// How many lists the name goes through before it.
    pub lists: usize,
    /// The leaves within.
    pub leaves: Box<[u16]>,
    /// Their bits.
    pub mask: u64,
    /// All of them have one.
    pub marked: bool,
}

/// The names of a pattern, as they are read.
pub(super) struct Tree<'a> {
    set: &'a Set,
    root: Branch<'a>,
    /// The entered messages.
    entered: Vec<Branch<'a>>,
    /// How many names there are.
    pub count: u16,
    through_list: Option<Box<str>>,
}

/// The set in which the types of a pattern with dotted names are, and what belongs to the names.
pub(super) type Dotted = (Arc<Set>, Box<Paths>);

/// A message of which fields are named.
struct Branch<'a> {
    whole: &'a MessagePlan,
    slots: BTreeMap<u16, Slot>,
    /// Lists around its field.
    around: usize,
    /// Lists around its own fields.
    lists: usize,
    leaves: Vec<u16>,
}

impl<'a> Branch<'a> {
    fn new(whole: &'a MessagePlan, around: usize, lists: usize) -> Self {
        Branch { whole, slots: BTreeMap::new(), around, lists, leaves: Vec::new() }
    }
}

impl<'a> Tree<'a> {
    pub fn new(set: &'a Set, whole: &'a MessagePlan) -> Self {
        Tree { set, root: Branch::new(whole, 0, 0), entered: Vec::new(), count: 0, through_list: None }
    }

    /// Adds a name.
    pub fn add(&mut self, word: &str) -> Result<(), SchemaError> {
        let mut here = Here { root: &self.root.whole.name, word, start: 0 };
        let mut trail = Vec::new();
        loop {
            let (part, after) = split(here.rest());
            if after.is_none() {
                return self.end(&trail, &here);
            }
            trail.push(self.enter(&trail, &here, part)?);
            // What was entered is followed by a dot.
            here.start = here.start.saturating_add(part.len()).saturating_add(1);
        }
    }

    fn branch(&mut self, trail: &[usize]) -> &mut Branch<'a> {
        match trail.last().and_then(|at| self.entered.get_mut(*at)) {
            Some(branch) => branch,
            None => &mut self.root,
        }
    }

    /// Goes from the last message of `trail` into its field `part`; answers where that is.
    fn enter(&mut self, trail: &[usize], here: &Here, part: &str) -> Result<usize, SchemaError> {
        let position = self.entered.len();
        let set = self.set;
        let branch = self.branch(trail);
        let field = here.find(branch.whole, part)?;
        let so_far = here.so_far(part);
        if field.op == Op::Map {
            return Err(here.fail(format_args!("{so_far} is a map, of which no fields can be named")));
        }
        let whole = set.message(field.sub).filter(|_| matches!(field.op, Op::Message | Op::Group));
        let Some(whole) = whole else {
            return Err(here.fail(format_args!("{so_far} is no message, so it has no fields")));
        };
        match branch.slots.get(&field.index) {
            Some(Slot::Enter(known)) => return Ok(*known),
            Some(_) => return Err(here.fail(format_args!("both {so_far} and a field in it are named"))),
            None => {}
        }
        let around = branch.lists;
        let lists = around.saturating_add(field.repeated().into());
        if lists > Paths::MOST_LISTS {
            return Err(here.fail(format_args!("{so_far} goes through more than {} lists", Paths::MOST_LISTS)));
        }
        if trail.len().saturating_add(2) > MOST_PARTS {
            return Err(here.fail(format_args!("{} joins more than {MOST_PARTS} names", quoted(here.word))));
        }
        branch.slots.insert(field.index, Slot::Enter(position));
        self.entered.push(Branch::new(whole, around, lists));
        Ok(position)
    }

    /// Takes the field at the end of a name, which is in the last message of `trail`.
    fn end(&mut self, trail: &[usize], here: &Here) -> Result<(), SchemaError> {
        let count = self.count;
        let branch = self.branch(trail);
        let field = here.find(branch.whole, here.rest())?;
        let name = quoted(here.word);
        match branch.slots.get(&field.index) {
            Some(Slot::Enter(_)) => return Err(here.fail(format_args!("both {name} and a field in it are named"))),
            Some(_) => return Err(here.fail(format_args!("field {name} is named twice"))),
            None => {}
        }
        let in_list = branch.lists > 0;
        if in_list && matches!(field.op, Op::Message | Op::Group) && !field.repeated() {
            return Err(here.fail(format_args!("{name} is a message in a list: only its fields can be named")));
        }
        branch.slots.insert(field.index, Slot::Value(count));
        if in_list && self.through_list.is_none() {
            self.through_list = Some(name.into());
        }
        for at in trail {
            if let Some(branch) = self.entered.get_mut(*at) {
                branch.leaves.push(count);
            }
        }
        self.count = count.saturating_add(1);
        if self.count == MessagePlan::NONE { Err(here.fail(format_args!("too many names"))) } else { Ok(()) }
    }

    /// The plan of the root, and what dotted names need, if there are any.
    pub fn compile(self) -> (MessagePlan, Option<Dotted>) {
        let Tree { set, root, entered, count, through_list } = self;
        if entered.is_empty() {
            return (reduce(root.whole, root.whole.index, root.slots, |f| f.sub), None);
        }
        let mut own = Own::new(set, entered.len());
        let plan = reduce(root.whole, root.whole.index, root.slots, |f| own.sub(f));
        let mut plans = Vec::new();
        let mut leaves: Vec<Option<Leaf>> = Vec::new();
        leaves.resize_with(count.into(), || None);
        take_leaves(&plan, 0, &mut leaves);
        let mut fields = Vec::new();
        for (branch, index) in entered.into_iter().zip(0..) {
            let plan = reduce(branch.whole, index, branch.slots, |f| own.sub(f));
            take_leaves(&plan, branch.lists, &mut leaves);
            plans.push(Arc::new(plan));
            let bits = || branch.leaves.iter().map(|leaf| Paths::bit(*leaf));
            fields.push(Entered {
                lists: branch.around,
                mask: bits().fold(0, |mask, bit| mask | bit),
                marked: bits().all(|bit| bit != 0),
                leaves: branch.leaves.into(),
            });
        }
        let mut leaves: Vec<Leaf> = leaves.into_iter().flatten().collect();
        let mut inner = 0usize;
        for leaf in &mut leaves {
            leaf.inner = inner;
            inner = inner.saturating_add(leaf.lists.saturating_sub(1));
        }
        let paths = Paths { leaves: leaves.into(), entered: fields.into(), inner, through_list };
        (plan, Some((own.set(plans), Box::new(paths))))
    }
}

/// A place in a name.
struct Here<'w> {
    /// The name of the pattern's type.
    root: &'w str,
    word: &'w str,
    start: usize,
}

impl<'w> Here<'w> {
    fn rest(&self) -> &'w str {
        self.word.get(self.start..).unwrap_or_default()
    }

    /// The name up to `part`, which is next.
    fn so_far(&self, part: &str) -> String {
        quoted(self.word.get(..self.start.saturating_add(part.len())).unwrap_or(self.word))
    }

    fn fail(&self, what: std::fmt::Arguments) -> SchemaError {
        SchemaError(format!("{}: {what}", self.root))
    }

    fn find<'a>(&self, whole: &'a MessagePlan, part: &str) -> Result<&'a FieldPlan, SchemaError> {
        find(whole, part, self.rest()).map_err(|what| {
            let before = self.word.get(..self.start.saturating_sub(1)).unwrap_or_default();
            let dot = if before.is_empty() { "" } else { "." };
            SchemaError(format!("{}{dot}{before}: {what}", self.root))
        })
    }
}

/// The first part of a dotted name, and what follows its dot. The name of an extension, which
/// stands in brackets, is one part.
fn split(word: &str) -> (&str, Option<&str>) {
    let closed = if word.starts_with('[') { word.find(']').unwrap_or(word.len()) } else { 0 };
    let dot = word.char_indices().find(|(i, c)| *i >= closed && *c == '.');
    match dot.and_then(|(i, _)| word.split_at_checked(i)) {
        Some((part, rest)) => (part, rest.strip_prefix('.')),
        None => (word, None),
    }
}

/// The field called `part`, an extension if that is in brackets; `rest` is what follows too.
fn find<'a>(whole: &'a MessagePlan, part: &str, rest: &str) -> Result<&'a FieldPlan, String> {
    let extension = |f: &&FieldPlan| f.flags.has(Flags::EXTENSION);
    let found = whole.by_name(part).filter(|f| extension(f) == part.starts_with('['));
    if let Some(field) = found {
        return Ok(field);
    }
    // The brackets were left out.
    if let Some(f) = whole.by_name(rest).or_else(|| whole.by_name(part)).filter(extension) {
        return Err(format!("unknown field {} (did you mean {:?}?)", quoted(part), whole.name_of(f)));
    }
    let names = whole.fields.iter().map(|f| whole.name_of(f));
    Err(format!("unknown field {}{}", quoted(part), did_you_mean(part, names)))
}

/// Puts what is named in `plan`, to which names come through `lists`, at its place.
fn take_leaves(plan: &MessagePlan, lists: usize, leaves: &mut [Option<Leaf>]) {
    for (field, default) in plan.fields.iter().zip(&plan.defaults) {
        // Ghosts and entered fields have no slot.
        if let Some(leaf) = leaves.get_mut(usize::from(field.slot)) {
            *leaf = Some(Leaf { field: *field, default: default.clone(), lists, inner: 0 });
        }
    }
}

/// The types that a pattern needs, where it has a set of its own.
struct Own<'a> {
    from: &'a Set,
    /// How many entered messages come before `messages`.
    entered: usize,
    /// Messages that stay bytes, and entries of maps.
    messages: Vec<Arc<MessagePlan>>,
    enums: Vec<Arc<EnumPlan>>,
    /// Positions here by those in `from`.
    message_at: HashMap<u32, u32>,
    enum_at: HashMap<u32, u32>,
}

impl<'a> Own<'a> {
    /// The position of no type.
    const NONE: u32 = u32::MAX;

    fn new(from: &'a Set, entered: usize) -> Self {
        let (messages, enums) = (Vec::new(), Vec::new());
        Own { from, entered, messages, enums, message_at: HashMap::new(), enum_at: HashMap::new() }
    }

    /// Where the type of `f` is here.
    fn sub(&mut self, f: &FieldPlan) -> u32 {
        match f.op {
            Op::Enum => self.enumeration(f.sub),
            Op::Message | Op::Group | Op::Map => self.message(f.sub),
            _ => f.sub,
        }
    }

    fn enumeration(&mut self, index: u32) -> u32 {
        if let Some(known) = self.enum_at.get(&index) {
            return *known;
        }
        let Some(plan) = self.from.enums.get(index as usize) else { return Self::NONE };
        let position = u32::try_from(self.enums.len()).unwrap_or(Self::NONE);
        self.enums.push(plan.clone());
        self.enum_at.insert(index, position);
        position
    }

    /// A message that stays bytes, or the entry of a map.
    fn message(&mut self, index: u32) -> u32 {
        if let Some(known) = self.message_at.get(&index) {
            return *known;
        }
        let Some(plan) = self.from.messages.get(index as usize) else { return Self::NONE };
        let plan = if plan.map_entry {
            let fields = plan.fields.iter().map(|f| FieldPlan { sub: self.sub(f), ..*f }).collect();
            let (names, defaults) = (plan.names.to_vec(), plan.defaults.to_vec());
            let mut entry = MessagePlan::assemble(index, plan.name.clone(), fields, names, defaults, Vec::new());
            entry.map_entry = true;
            Arc::new(entry)
        } else {
            plan.clone()
        };
        let position = u32::try_from(self.entered.saturating_add(self.messages.len())).unwrap_or(Self::NONE);
        self.messages.push(plan);
        self.message_at.insert(index, position);
        position
    }

    /// The set, with the plans of the entered messages first.
    fn set(self, mut entered: Vec<Arc<MessagePlan>>) -> Arc<Set> {
        entered.extend(self.messages);
        Arc::new(Set { messages: entered, enums: self.enums, ..Set::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{EnumPlan, Pattern, Types};

    const SOURCE: &str = r#"
        syntax = "proto2";
        package p;
        message M {
            required M sub = 4;
            repeated M many = 3;
            optional int32 id = 2 [default = 7];
            optional E e = 5;
            map<string, E> enums = 6;
            map<string, M> subs = 8;
            oneof one { int32 a = 9; M b = 10; string c = 11; }
            repeated string texts = 12;
        }
        enum Other { NONE = 0; }
        enum E { ZERO = 0; ONE = 1; }
    "#;

    fn types() -> Arc<Types> {
        crate::schema::tests::registry(SOURCE).types().clone()
    }

    fn compile(text: &str) -> Pattern {
        Pattern::compile(&types(), text).unwrap()
    }

    fn error(text: &str) -> String {
        Pattern::compile(&types(), text).unwrap_err().0
    }

    fn names(plan: &MessagePlan) -> Vec<&str> {
        plan.names.iter().map(|n| &**n).collect()
    }

    #[test]
    fn every_entered_field_has_a_plan_of_what_is_named_in_it() {
        let pattern = compile("p.M sub.id many.sub.id id many.id sub.many.texts");
        let (set, paths) = (&pattern.set, pattern.paths.unwrap());
        assert_eq!(pattern.count, 5);
        assert_eq!(names(&pattern.plan), ["id", "many", "sub"]);
        let entered: Vec<_> = set.messages.iter().map(|m| names(m)).collect();
        assert_eq!(entered, [vec!["id", "many"], vec!["id", "sub"], vec!["id"], vec!["texts"]]);
        let sub = |plan: &MessagePlan, name| plan.by_name(name).filter(|f| f.flags.has(Flags::ENTER)).map(|f| f.sub);
        assert_eq!(
            [sub(&pattern.plan, "sub"), sub(&pattern.plan, "many"), sub(&pattern.plan, "id")],
            [Some(0), Some(1), None]
        );
        assert_eq!([sub(&set.messages[1], "sub"), sub(&set.messages[0], "many")], [Some(2), Some(3)]);
        assert!(set.messages.iter().all(|m| m.required == 0));
        let lists: Vec<_> = paths.leaves.iter().map(|l| (l.lists, l.inner, l.field.slot)).collect();
        assert_eq!(lists, [(0, 0, 0), (1, 0, 1), (0, 0, 2), (1, 0, 3), (1, 0, 4)]);
        assert_eq!(paths.leaves[0].default, Default::Int(7));
        let entered: Vec<_> = paths.entered.iter().map(|e| (e.lists, &*e.leaves, e.mask, e.marked)).collect();
        assert_eq!(
            entered,
            [
                (0, &[0, 4][..], 0b10001, true),
                (0, &[1, 3], 0b1010, true),
                (1, &[1], 0b10, true),
                (0, &[4], 0b10000, true)
            ]
        );
        assert_eq!(paths.through_list.as_deref(), Some("\"many.sub.id\""));
        assert_eq!(compile("p.M sub.sub.id").paths.unwrap().through_list, None);
    }

    #[test]
    fn arrays_within_arrays_have_places() {
        let paths = compile("p.M many.many.many.id many.id many.many.texts id").paths.unwrap();
        assert_eq!(
            paths.leaves.iter().map(|l| (l.lists, l.inner)).collect::<Vec<_>>(),
            [(3, 0), (1, 2), (2, 2), (0, 3)]
        );
        assert_eq!(paths.inner, 3);
    }

    #[test]
    fn the_set_has_what_the_fields_refer_to() {
        let pattern = compile("p.M e sub.e sub.enums subs sub.sub.sub");
        let (set, plan) = (&pattern.set, &pattern.plan);
        assert_eq!(set.enums.iter().map(|e| &*e.name).collect::<Vec<_>>(), ["p.E"]);
        let named = |e: Option<&EnumPlan>| e.map(|e| e.name.clone());
        assert_eq!(named(set.enumeration(plan.by_name("e").unwrap().sub)).as_deref(), Some("p.E"));
        let entry = set.message(set.messages[0].by_name("enums").unwrap().sub).unwrap();
        assert!(entry.map_entry);
        assert_eq!(named(set.enumeration(entry.fields[1].sub)).as_deref(), Some("p.E"));
        let entry = set.message(plan.by_name("subs").unwrap().sub).unwrap();
        assert_eq!(&*set.message(entry.fields[1].sub).unwrap().name, "p.M");
        let last = set.messages[1].by_name("sub").unwrap();
        assert!(!last.flags.has(Flags::ENTER));
        assert_eq!(&*set.message(last.sub).unwrap().name, "p.M");
    }

    #[test]
    fn an_entered_member_of_a_oneof_has_ghosts_beside_it() {
        let pattern = compile("p.M b.c");
        let shown = |plan: &MessagePlan| {
            let flags = |f: &FieldPlan| (f.flags.has(Flags::GHOST), f.flags.has(Flags::ENTER));
            plan.fields.iter().map(|f| (plan.name_of(f).to_owned(), flags(f))).collect::<Vec<_>>()
        };
        let ghost = |name: &str| (name.to_owned(), (true, false));
        assert_eq!(shown(&pattern.plan), [ghost("a"), ("b".into(), (false, true)), ghost("c")]);
        assert_eq!(shown(&pattern.set.messages[0]), [ghost("a"), ghost("b"), ("c".into(), (false, false))]);
    }

    #[test]
    fn more_names_than_bits() {
        let many: String = (0..70).map(|i| format!(" {}id", "sub.".repeat(i))).collect();
        let paths = compile(&format!("p.M{many}")).paths.unwrap();
        let masks = |i: usize| (paths.entered[i].mask, paths.entered[i].marked, paths.entered[i].leaves.len());
        assert_eq!(masks(0), (!1, false, 69));
        assert_eq!(masks(62), (1 << 63, false, 7));
        assert_eq!(masks(68), (0, false, 1));
    }

    #[test]
    fn an_extension_in_brackets_is_one_part() {
        assert_eq!(split("a.b.c"), ("a", Some("b.c")));
        assert_eq!(split("a"), ("a", None));
        assert_eq!(split("a."), ("a", Some("")));
        assert_eq!(split(""), ("", None));
        assert_eq!(split("[a.b].c.[d.e]"), ("[a.b]", Some("c.[d.e]")));
        assert_eq!(split("[d.e]"), ("[d.e]", None));
        assert_eq!(split("[a.b]x.c"), ("[a.b]x", Some("c")));
        assert_eq!(split("[a.b"), ("[a.b", None));
        assert_eq!(split("\u{e9}.x"), ("\u{e9}", Some("x")));
    }

    #[test]
    fn extensions_are_named_in_brackets_alone() {
        let field = |name, flags| {
            let plan = compile("p.M id").plan;
            (FieldPlan { flags, ..plan.fields[0] }, Box::from(name), Default::Int(0))
        };
        let parts = [field("plain", Flags(0)), field("x.ext", Flags::EXTENSION), field("bare", Flags::EXTENSION)];
        let (mut fields, mut names, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        for ((f, name, default), index) in parts.into_iter().zip(0..) {
            fields.push(FieldPlan { index, tag: (u32::from(index) + 1) << 3, ..f });
            names.push(name);
            defaults.push(default);
        }
        let plan = MessagePlan::assemble(0, "p.X".into(), fields, names, defaults, Vec::new());
        let find = |name: &str| super::find(&plan, split(name).0, name).map(|f| f.index);
        assert_eq!(find("plain"), Ok(0));
        assert_eq!(find("[x.ext]"), Ok(1));
        assert_eq!(find("[bare]"), Ok(2));
        assert_eq!(find("[plain]"), Err("unknown field \"[plain]\" (did you mean \"plain\"?)".into()));
        assert_eq!(find("x.ext"), Err("unknown field \"x\" (did you mean \"[x.ext]\"?)".into()));
        assert_eq!(find("bare"), Err("unknown field \"bare\" (did you mean \"[bare]\"?)".into()));
        assert_eq!(find("[x.exd]"), Err("unknown field \"[x.exd]\" (did you mean \"[x.ext]\"?)".into()));
        assert_eq!(find("something"), Err("unknown field \"something\"".into()));
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(error("p.M sub.idd"), "p.M.sub: unknown field \"idd\" (did you mean \"id\"?)");
        assert_eq!(error("p.M sub.many.x.y"), "p.M.sub.many: unknown field \"x\"");
        assert_eq!(error("p.M sbu.id"), "p.M: unknown field \"sbu\" (did you mean \"sub\"?)");
        assert_eq!(error("p.M sub."), "p.M.sub: unknown field \"\"");
        assert_eq!(error("p.M .id"), "p.M: unknown field \"\"");
        assert_eq!(error("p.M sub.id.x"), "p.M: \"sub.id\" is no message, so it has no fields");
        assert_eq!(error("p.M sub.subs.id"), "p.M: \"sub.subs\" is a map, of which no fields can be named");
        assert_eq!(error("p.M many.sub"), "p.M: \"many.sub\" is a message in a list: only its fields can be named");
        assert_eq!(error("p.M sub.id id sub.id"), "p.M: field \"sub.id\" is named twice");
        for both in ["p.M sub.sub sub.sub.id", "p.M sub.sub.id sub.sub"] {
            assert_eq!(error(both), "p.M: both \"sub.sub\" and a field in it are named");
        }
    }

    #[test]
    fn names_are_bounded() {
        let (deep, lists) = (|n| format!("p.M {}id", "sub.".repeat(n)), |n| format!("p.M {}id", "many.".repeat(n)));
        assert_eq!(compile(&deep(99)).paths.unwrap().entered.len(), 99);
        assert!(error(&deep(100)).ends_with("joins more than 100 names"));
        assert_eq!(compile(&lists(16)).paths.unwrap().inner, 15);
        assert!(error(&lists(17)).ends_with("goes through more than 16 lists"));
    }
}
