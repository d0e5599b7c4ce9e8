import type { SchemaCase } from './schema-case.ts'

/** Names of types, relations and permissions. */
export const NAMES_CASES: readonly SchemaCase[] = [
  {
    rule: 'names have three characters at least',
    text: 'definition ab {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "ab"',
  },
  {
    rule: 'names of three characters are enough',
    text: 'definition abc {}',
    error: undefined,
  },
  {
    rule: 'names have 64 characters at most',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {}',
    error:
      '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
  },
  {
    rule: 'names of 64 characters are short enough',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {}',
    error: undefined,
  },
  {
    rule: 'names do not begin with a digit',
    text: 'definition 1user {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "1user"',
  },
  {
    rule: 'names do not begin with an underscore',
    text: 'definition _user {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "_user"',
  },
  {
    rule: 'names do not end with an underscore',
    text: 'definition user_ {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "user_"',
  },
  {
    rule: 'names may have underscores within',
    text: 'definition user__group2 {}',
    error: undefined,
  },
  {
    rule: 'names have no hyphen',
    text: 'definition user-group {}',
    error: '1:16: expected "{", found "-"',
  },
  {
    rule: 'prefixes may be several',
    text: 'definition ten/team/user {}\ndefinition doc {\n    relation owner: ten/team/user\n}',
    error: undefined,
  },
  {
    rule: 'prefixes follow the rules of names',
    text: 'definition a/user {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "a/user"',
  },
  {
    rule: 'a prefix is followed by a name',
    text: 'definition ten/ {}',
    error: '1:17: expected a type name after "/", found "{"',
  },
  {
    rule: 'a prefix is a name',
    text: 'definition /user {}',
    error: '1:12: expected a type name after "definition", found "/"',
  },
  {
    rule: 'names with their prefixes have 128 characters at most',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/abcdefg {}',
    error: '1:12: expected a name of at most 128 characters with its prefix',
  },
  {
    rule: 'names with their prefixes may have 128 characters',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/abcdef {}',
    error: undefined,
  },
  {
    rule: 'a type whose prefix has 64 characters may be defined',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/user {}',
    error: undefined,
  },
  {
    rule: 'a type whose prefix has 64 characters may not be a subject',
    text: 'definition aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/user {}\ndefinition doc {\n    relation owner: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/user\n}',
    error:
      '3:21: expected prefixes of at most 63 characters, found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/user"',
  },
  {
    rule: 'relations have names of 64 characters at most',
    text: 'definition user {}\ndefinition doc {\n    relation aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: user\n}',
    error:
      '3:14: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
  },
  {
    rule: 'relations have names without prefix',
    text: 'definition user {}\ndefinition doc {\n    relation ten/owner: user\n}',
    error: '3:17: expected ":", found "/"',
  },
  {
    rule: 'permissions follow the rules of names',
    text: 'definition user {}\ndefinition doc {\n    permission Edit = nil\n}',
    error: '3:16: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "Edit"',
  },
  {
    rule: 'targets of arrows follow the rules of names',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    permission edit = owner->Edit\n}',
    error: '4:30: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "Edit"',
  },
  {
    rule: 'targets of arrows have three characters',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    permission edit = owner->ab\n}',
    error: '4:30: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "ab"',
  },
  {
    rule: 'permission is no name',
    text: 'definition user {}\ndefinition doc {\n    relation permission: user\n}',
    error: '3:14: expected a relation name, found "permission"',
  },
  {
    rule: 'nil is no name',
    text: 'definition user {}\ndefinition doc {\n    relation nil: user\n}',
    error: '3:14: expected a relation name, found "nil"',
  },
  {
    rule: 'with is no name',
    text: 'definition user {}\ndefinition doc {\n    relation with: user\n}',
    error: '3:14: expected a relation name, found "with"',
  },
  {
    rule: 'use is a name',
    text: 'definition use {}',
    error: undefined,
  },
  {
    rule: 'any and all are names',
    text: 'definition user {}\ndefinition doc {\n    relation any: user\n    relation all: doc\n    permission edit = any + all.all(all) + all.any(any)\n}',
    error: undefined,
  },
  {
    rule: 'self is a name where it is not switched on',
    text: 'definition self {\n    relation self: self\n    permission edit = self\n}',
    error: undefined,
  },
  {
    rule: 'self is no name where it is switched on',
    text: 'use self\ndefinition user {\n    relation self: user\n}',
    error: '3:14: expected a relation name, found "self"',
  },
  {
    rule: 'expiration and and are names where expiration is not switched on',
    text: 'definition expiration {\n    relation and: expiration\n}',
    error: undefined,
  },
  {
    rule: 'expiration is no name where it is switched on',
    text: 'use expiration\ndefinition user {\n    relation expiration: user\n}',
    error: '3:14: expected a relation name, found "expiration"',
  },
  {
    rule: 'and is no name where expiration is switched on',
    text: 'use expiration\ndefinition and {}',
    error: '2:12: expected a type name after "definition", found "and"',
  },
  {
    rule: 'typechecking is no name where it is switched on',
    text: 'use typechecking\ndefinition user {\n    relation typechecking: user\n}',
    error: '3:14: expected a relation name, found "typechecking"',
  },
  {
    rule: 'a definition may use the name of a relation',
    text: 'definition owner {\n    relation owner: owner\n}',
    error: undefined,
  },
  {
    rule: 'a permission is defined once',
    text: 'definition user {}\ndefinition doc {\n    permission edit = nil\n    permission edit = nil\n}',
    error: '4:16: expected a new name, "doc" has "edit" already',
  },
  {
    rule: 'a relation is defined once',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation owner: user\n}',
    error: '4:14: expected a new name, "doc" has "owner" already',
  },
]
