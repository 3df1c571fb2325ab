//! The set fields of a message that is encoded, as its source lists them.

use super::proto3;
use crate::kernel::Fields;

/// The positions of the listed fields.
fn positions(fields: &Fields) -> Vec<usize> {
    (0..fields.len()).map(|i| fields.position(i)).collect()
}

#[test]
fn noted_fields_are_listed_once_in_order_until_there_are_too_many() {
    let all: String = (1..=3000).map(|i| format!("int32 a{i} = {i};")).collect();
    let s = proto3(&format!("message M {{ {all} }}"));
    let plan = s.call("M").plan;
    let mut fields = Fields::new();
    let noted: Vec<bool> = [2999, 5, 2100, 5].map(|i: usize| fields.note(&plan.fields[i])).into();
    assert_eq!(noted, [false, false, false, true]);
    assert_eq!((positions(&fields), fields.seen, fields.all), (vec![5, 2100, 2999], 1 << 5, false));
    plan.fields[10..39].iter().for_each(|f| assert!(!fields.note(f)));
    assert_eq!((fields.len(), fields.all), (Fields::MOST, false));
    fields.note(&plan.fields[5]);
    assert!(!fields.all);
    fields.note(&plan.fields[6]);
    assert!(fields.all);
}

#[test]
fn two_members_of_a_oneof_show_in_the_list() {
    let s = proto3(
        "message M { int32 x = 1; oneof o { int32 a = 2; int32 b = 5; } oneof p { int32 c = 3; int32 d = 4; } }",
    );
    let plan = s.call("M").plan;
    for (listed, expected) in [
        (&[0, 1, 2][..], false),
        (&[1, 4], true),
        (&[3, 0, 2], true),
        (&[4, 3, 0], false),
        (&[], false),
        (&[4, 2, 1], true),
    ] {
        let (mut added, mut noted) = (Fields::new(), Fields::new());
        for f in listed.iter().map(|i: &usize| &plan.fields[*i]) {
            added.add(f);
            noted.note(f);
        }
        assert_eq!((added.share_oneof(plan), noted.share_oneof(plan)), (expected, expected), "{listed:?}");
    }
}
