import type { SchemaCase } from './schema-case.ts'

/** Members that several definitions share. */
export const PARTIALS_CASES: readonly SchemaCase[] = [
  {
    rule: 'a definition takes in the members of a partial',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation owner: user\n}\ndefinition doc {\n    ...shared\n    permission edit = owner\n}',
    error: undefined,
  },
  {
    rule: 'a partial may stand behind the definition',
    text: 'use partial\ndefinition user {}\ndefinition doc {\n    ...shared\n    permission edit = owner\n}\npartial shared {\n    relation owner: user\n}',
    error: undefined,
  },
  {
    rule: 'a partial may take in partials',
    text: 'use partial\ndefinition user {}\npartial shared {\n    ...owned\n    permission edit = owner\n}\npartial owned {\n    relation owner: user\n}\ndefinition doc {\n    ...shared\n}',
    error: undefined,
  },
  {
    rule: 'a partial may use what its definitions have',
    text: 'use partial\ndefinition user {}\npartial shared {\n    permission edit = owner\n}\ndefinition doc {\n    ...shared\n    relation owner: user\n}',
    error: undefined,
  },
  {
    rule: 'partials are defined',
    text: 'use partial\ndefinition user {}\ndefinition doc {\n    ...shared\n}',
    error: '4:8: expected a defined partial, found "shared"',
  },
  {
    rule: 'partials of partials are defined',
    text: 'use partial\ndefinition user {}\npartial shared {\n    ...owned\n}',
    error: '4:8: expected a defined partial, found "owned"',
  },
  {
    rule: 'partials are not part of each other',
    text: 'use partial\ndefinition user {}\npartial shared {\n    ...owned\n}\npartial owned {\n    ...shared\n}',
    error: '7:8: expected a partial that is not part of itself, found "shared"',
  },
  {
    rule: 'a partial is not part of itself',
    text: 'use partial\ndefinition user {}\npartial shared {\n    ...shared\n}',
    error: '4:8: expected a partial that is not part of itself, found "shared"',
  },
  {
    rule: 'a partial is defined once',
    text: 'use partial\ndefinition user {}\npartial shared {}\npartial shared {}',
    error: '4:9: expected a new name, "shared" is defined already',
    exclusion: 'SpiceDB lets the later one stand',
  },
  {
    rule: 'a partial and a type have different names',
    text: 'use partial\ndefinition user {}\npartial user {}',
    error: '3:9: expected a new name, "user" is defined already',
  },
  {
    rule: 'a partial and a caveat have different names',
    text: 'use partial\ncaveat care(day int) {\n    day > 1\n}\npartial care {}',
    error: '5:9: expected a new name, "care" is defined already',
  },
  {
    rule: 'a partial is no type',
    text: 'use partial\ndefinition user {}\npartial shared {}\ndefinition doc {\n    relation owner: shared\n}',
    error: '5:21: expected a defined type, found "shared"',
  },
  {
    rule: 'a member of a partial is new',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation owner: user\n}\ndefinition doc {\n    ...shared\n    relation owner: user\n}',
    error: '4:14: expected a new name, "doc" has "owner" already',
  },
  {
    rule: 'a partial is taken in once',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation owner: user\n}\ndefinition doc {\n    ...shared\n    ...shared\n}',
    error: '4:14: expected a new name, "doc" has "owner" already',
  },
  {
    rule: 'a partial that is not taken in may name unknown types',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation owner: nobody\n}',
    error: undefined,
  },
  {
    rule: 'a partial that is taken in names defined types',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation owner: nobody\n}\ndefinition doc {\n    ...shared\n}',
    error: '4:21: expected a defined type, found "nobody"',
  },
  {
    rule: 'a partial that is not taken in keeps to the rules of names',
    text: 'use partial\ndefinition user {}\npartial shared {\n    relation Owner: user\n}',
    error: '4:14: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "Owner"',
  },
  {
    rule: 'a partial has any name',
    text: 'use partial\ndefinition user {}\npartial Shared1 {\n    relation owner: user\n}\ndefinition doc {\n    ...Shared1\n}',
    error: undefined,
  },
  {
    rule: 'a partial is taken in without prefix',
    text: 'use partial\ndefinition user {}\npartial ten/shared {\n    relation owner: user\n}\ndefinition doc {\n    ...ten/shared\n}',
    error: '7:11: expected the end of the line after the name of a partial, found "/"',
  },
  {
    rule: 'the name of a partial ends the statement',
    text: 'use partial\ndefinition user {}\npartial shared {}\ndefinition doc { ...shared }',
    error: '4:28: expected the end of the line after the name of a partial, found "}"',
  },
]
