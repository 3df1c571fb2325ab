//! Limits that it takes gigabytes to reach.
#![cfg(feature = "vendored")]

use support::register;

mod support;

#[test]
fn messages_end_at_two_gibibytes() {
    let (lua, protobuf) = support::lua();
    register(&lua, &protobuf, include_bytes!("../descriptors/every3.pb")).expect("it registers");
    let encode = r#"
        local protobuf = ...
        local bytes = ("x"):rep(2 ^ 29)
        local fine = #protobuf.encode("every3.All", { r_bytes = { bytes } })
        local _, message = pcall(protobuf.encode, "every3.All", { r_bytes = { bytes, bytes, bytes, bytes } })
        return fine, message
    "#;
    let (fine, message): (u64, String) = lua.load(encode).call(protobuf).expect("it runs");
    assert_eq!(fine, (1 << 29) + 7);
    assert_eq!(message, "every3.All: message larger than 2 GiB");
}
