# The modules that Lua programs load, and shortcuts for what CI runs. LUA is the Lua to build for: 5.1 to 5.5, or jit.
#   make module LUA=jit     builds target/lua/jit/protobuf.so
#   make suite LUA=jit      runs the Lua tests against it in that interpreter
LUA ?= 5.4
PROFILE ?= release

# For each Lua: the cargo feature, and the interpreter that the tests call.
FEATURE_5.1 = lua51
FEATURE_5.2 = lua52
FEATURE_5.3 = lua53
FEATURE_5.4 = lua54
FEATURE_5.5 = lua55
FEATURE_jit = luajit
INTERPRETER_5.1 = lua5.1
INTERPRETER_5.2 = lua5.2
INTERPRETER_5.3 = lua5.3
INTERPRETER_5.4 = lua5.4
INTERPRETER_5.5 = lua5.5
INTERPRETER_jit = luajit

FEATURE = $(FEATURE_$(LUA))
INTERPRETER = $(INTERPRETER_$(LUA))
ifeq ($(FEATURE),)
$(error LUA=$(LUA) is none of 5.1 5.2 5.3 5.4 5.5 jit)
endif

CARGO ?= cargo
EMBEDDED = --no-default-features --features vendored,proto,$(FEATURE)
BUILT = target/module-$(LUA)/$(PROFILE)/libprotobuf_lua
MODULE = target/lua/$(LUA)/protobuf.so

.PHONY: all module suite test bench check clean

all: module

# Every Lua has a target folder of its own, so that building for one does not rebuild for another.
# `install` makes a new file: a program that has the old one loaded keeps it.
module:
	$(CARGO) rustc --profile $(PROFILE) --lib --crate-type cdylib \
		--no-default-features --features module,proto,$(FEATURE) --target-dir target/module-$(LUA)
	mkdir -p $(dir $(MODULE))
	install -m 755 $$(ls $(BUILT).so $(BUILT).dylib 2>/dev/null) $(MODULE)

suite: module
	LUA_CPATH="target/lua/$(LUA)/?.so" $(INTERPRETER) tests/lua/run.lua

test:
	$(CARGO) test $(EMBEDDED)

bench:
	$(CARGO) bench $(EMBEDDED)

check:
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets $(EMBEDDED) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps $(EMBEDDED)

clean:
	$(CARGO) clean
