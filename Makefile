# The modules that Lua programs load, and shortcuts for what CI runs. LUA is the Lua to build for: 5.1 to 5.5, or jit.
#   make module LUA=jit     builds target/lua/jit/protobuf.so
#   make install LUA=jit    puts it, and parser.lua, where that Lua looks; PREFIX is /usr/local unless told otherwise
#   make uninstall LUA=jit  takes them away again
#   make suite LUA=jit      runs the Lua tests against the module in that interpreter
LUA ?= 5.4
PREFIX ?= /usr/local
CARGO ?= cargo
STRIP ?= strip

# For each Lua: the cargo feature, the interpreter that the tests call (5.5 is in few systems yet: the host program has
# it), the version in the folders where it looks, and how the module calls it.
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
INTERPRETER_5.5 = $(HOST)
INTERPRETER_jit = luajit
FOLDER = $(if $(filter jit,$(LUA)),5.1,$(LUA))
NAME = $(if $(filter jit,$(LUA)),LuaJIT,Lua $(LUA))

FEATURE = $(FEATURE_$(LUA))
INTERPRETER ?= $(INTERPRETER_$(LUA))
ifeq ($(FEATURE),)
$(error LUA=$(LUA) is none of 5.1 5.2 5.3 5.4 5.5 jit)
endif

EMBEDDED = --no-default-features --features vendored,proto,$(FEATURE)
# Every Lua has a target folder of its own, so that building for one does not rebuild for another. A single build of all
# of them in a row is quicker with one folder, since they share their dependencies.
TARGET_DIR ?= target/module-$(LUA)
BUILT = $(TARGET_DIR)/release/libprotobuf_lua
MODULE = target/lua/$(LUA)/protobuf.so
HOST = target/lua/$(LUA)/protobuf-lua

CPATH = $(DESTDIR)$(PREFIX)/lib/lua/$(FOLDER)
LPATH = $(DESTDIR)$(PREFIX)/share/lua/$(FOLDER)
# What tells the files that belong to this build from others of the same name, such as pbc's.
MODULE_MARK = this build of protobuf is for $(NAME),
PARSER_MARK = protobuf.register_proto

.PHONY: all module host install uninstall suite test bench check clean

all: module

# `install` makes a new file: a program that has the old one loaded keeps it.
module:
	@command -v $(CARGO) >/dev/null || { echo 'there is no cargo: install Rust, https://rustup.rs' >&2; exit 1; }
	$(CARGO) rustc --release --lib --crate-type cdylib \
		--no-default-features --features module,proto,$(FEATURE) --target-dir $(TARGET_DIR)
	mkdir -p $(dir $(MODULE))
	install -m 755 $$(ls $(BUILT).so $(BUILT).dylib 2>/dev/null) $(MODULE)

# The host program with this Lua embedded, for where there is no interpreter.
host:
	$(CARGO) build $(EMBEDDED) --target-dir target
	mkdir -p $(dir $(HOST))
	install -m 755 target/debug/protobuf-lua $(HOST)

# Fails if a file stands in the way that is not the one to replace or remove.
own = @if [ -e '$(1)' ] && ! grep -aqF '$(2)' '$(1)'; then \
	echo '$(1) is not $(3): remove it yourself, or choose another PREFIX' >&2; exit 1; fi
owned = $(call own,$(CPATH)/protobuf.so,$(MODULE_MARK),this library for $(NAME))
owned_parser = $(call own,$(LPATH)/parser.lua,$(PARSER_MARK),the parser of this library)

# Without a cargo, as for a root who has none, what was built before is installed: `make module && sudo make install`.
install: $(if $(shell (command -v $(CARGO)) 2>/dev/null),module)
	@[ -e $(MODULE) ] || { echo 'build it first: make module LUA=$(LUA)' >&2; exit 1; }
	$(owned)
	$(owned_parser)
	@if [ -e '$(LPATH)/protobuf.lua' ]; then \
		echo '$(LPATH)/protobuf.lua would be found before the module: remove it' >&2; exit 1; fi
	mkdir -p '$(CPATH)' '$(LPATH)'
	install -m 755 $(MODULE) '$(CPATH)/protobuf.so.new'
	$(STRIP) -S '$(CPATH)/protobuf.so.new' || { rm -f '$(CPATH)/protobuf.so.new'; exit 1; }
	mv -f '$(CPATH)/protobuf.so.new' '$(CPATH)/protobuf.so'
	install -m 644 lua/parser.lua '$(LPATH)/parser.lua'
	@echo 'for a Lua that does not look there: LUA_CPATH="$(CPATH)/?.so;;" LUA_PATH="$(LPATH)/?.lua;;"'

uninstall:
	$(owned)
	$(owned_parser)
	rm -f '$(CPATH)/protobuf.so' '$(LPATH)/parser.lua'

# The host has the library built in; the module is what is tested.
suite: module $(if $(filter $(HOST),$(INTERPRETER)),host)
	LUA_CPATH="target/lua/$(LUA)/?.so" $(INTERPRETER) -e 'package.preload.protobuf = nil' tests/lua/run.lua

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
