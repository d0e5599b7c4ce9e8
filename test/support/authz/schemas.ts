import type { SchemaCase } from './schemas/schema-case.ts'
import { ANNOTATIONS_CASES } from './schemas/annotations.ts'
import { CAVEATS_CASES } from './schemas/caveats.ts'
import { CONDITIONS_CASES } from './schemas/conditions.ts'
import { EXPRESSIONS_CASES } from './schemas/expressions.ts'
import { FEATURES_CASES } from './schemas/features.ts'
import { NAMES_CASES } from './schemas/names.ts'
import { PARTIALS_CASES } from './schemas/partials.ts'
import { PERMISSIONS_CASES } from './schemas/permissions.ts'
import { RELATIONS_CASES } from './schemas/relations.ts'
import { TEXT_CASES } from './schemas/text.ts'

const user = 'definition user {}\n'

/** What most schemas have. */
const COMMON_CASES: readonly SchemaCase[] = [
  { rule: 'an empty text is a schema', text: '', error: undefined },
  {
    rule: 'comments stand anywhere',
    text: '// a\n/* b */ definition /* c */ user { // d\n}\n/** e */',
    error: undefined,
  },
  {
    rule: 'lines may end as on any system',
    text: 'definition user {\r\n    relation boss: user\r\n}\r\n',
    error: undefined,
  },
  {
    rule: 'a semicolon ends a statement too',
    text: 'definition user { relation boss: user; permission all_of = boss; }',
    error: undefined,
  },
  {
    rule: 'types may have a prefix',
    text: 'definition ten/user {}\ndefinition ten/doc {\n    relation owner: ten/user\n}',
    error: undefined,
  },
  {
    rule: 'an operator at the end of a line goes on',
    text: 'definition user {\n    relation boss: user |\n        user:*\n    permission all_of = boss +\n        boss\n}',
    error: undefined,
  },
  {
    rule: 'a type may have no relation that an arrow reaches',
    text: `${user}definition doc {\n    relation owner: user\n    permission edit = owner->edit\n}`,
    error: undefined,
  },
  {
    rule: 'nil is a permission that nobody holds',
    text: `${user}definition doc {\n    permission edit = nil\n}`,
    error: undefined,
  },
  {
    rule: 'self needs to be switched on',
    text: 'use self\ndefinition user {\n    permission edit = self\n}',
    error: undefined,
  },
  {
    rule: 'a permission may be a subject',
    text: 'definition user {\n    relation boss: user\n    permission lead = boss\n    relation crew: user#lead\n}',
    error: undefined,
  },
  {
    rule: 'caveats take lists and maps',
    text: 'caveat fits(sizes list<int>, names map<list<string>>) {\n    sizes.size() == names.size()\n}',
    error: undefined,
  },
  {
    rule: 'a caveat may hold braces in strings and comments',
    text: 'caveat odd(word string) {\n    word == "}" || word == \'{\' // }\n}',
    error: undefined,
  },

  {
    rule: 'self is a name like any other unless switched on',
    text: 'definition user {\n    permission edit = self\n}',
    error: '2:23: expected a relation or permission of "user", found "self"',
  },
  {
    rule: 'features are known',
    text: 'use wings',
    error: '1:5: expected a feature that is supported (expiration, import, partial, self, typechecking), found "wings"',
  },
  {
    rule: 'features come first',
    text: 'definition user {}\nuse self',
    error: '2:1: expected "definition" or "caveat": "use" comes before them, found "use"',
  },
  {
    rule: 'only declarations stand at the top',
    text: 'relation boss: user',
    error: '1:1: expected "use", "definition" or "caveat", found "relation"',
  },
  {
    rule: 'a definition has a name',
    text: 'definition {}',
    error: '1:12: expected a type name after "definition", found "{"',
  },
  {
    rule: 'keywords are no names',
    text: 'definition relation {}',
    error: '1:12: expected a type name after "definition", found "relation"',
  },
  {
    rule: 'names are lower case',
    text: 'definition User {}',
    error: '1:12: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "User"',
  },
  {
    rule: 'names have three characters',
    text: `${user}definition doc {\n    relation ab: user\n}`,
    error: '3:14: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "ab"',
  },
  {
    rule: 'names are ASCII',
    text: `${user}definition doc {\n    relation \u00e4rger: user\n}`,
    error: '3:14: expected a name of 3 to 64 lower-case letters, digits and "_", not at either end, found "\u00e4rger"',
  },
  {
    rule: 'the brace stands on the line of the name',
    text: 'definition user\n{\n}',
    error: '1:16: expected "{", found the end of the line',
  },
  {
    rule: 'a definition is closed',
    text: 'definition user {\n    relation boss: user\n',
    error: '3:1: expected "relation", "permission" or "}", found the end of the schema',
  },
  {
    rule: 'a statement ends with its line',
    text: 'definition user { relation boss: user }',
    error: '1:39: expected the end of the line after a relation, found "}"',
  },
  {
    rule: 'a line does not begin with an operator',
    text: 'definition user {\n    relation boss: user\n        | user:*\n}',
    error: '3:9: expected "relation", "permission" or "}", found "|"',
  },
  {
    rule: 'a relation has subjects',
    text: 'definition user {\n    relation boss:\n}',
    error: '3:1: expected a subject type, found "}"',
  },
  {
    rule: 'only everyone is a wildcard',
    text: 'definition user {\n    relation boss: user:ann\n}',
    error: '2:25: expected "*", found "ann"',
  },
  {
    rule: 'everyone has no relation',
    text: 'definition user {\n    relation boss: user\n    relation crew: user:*#boss\n}',
    error: '3:26: expected the end of the line after a relation, found "#"',
  },
  {
    rule: 'a caveat is named',
    text: 'definition user {\n    relation boss: user with\n}',
    error: '2:29: expected a caveat name after "with", found the end of the line',
  },
  {
    rule: 'a permission has an expression',
    text: 'definition user {\n    permission edit =\n}',
    error: '3:1: expected the name of a relation or permission, "self", "nil" or "(", found "}"',
  },
  {
    rule: 'an operator has a right side',
    text: 'definition user {\n    relation boss: user\n    permission edit = boss +\n}',
    error: '4:1: expected the name of a relation or permission, "self", "nil" or "(", found "}"',
  },
  {
    rule: 'parentheses are closed',
    text: 'definition user {\n    relation boss: user\n    permission edit = (boss\n}',
    error: '3:28: expected ")", found the end of the line',
  },
  {
    rule: 'arrows start at a relation',
    text: 'definition user {\n    relation boss: user\n    permission edit = (boss)->edit\n}',
    error: '3:29: expected the end of the line after a permission, found "->"',
  },
  {
    rule: 'arrows have a target',
    text: 'definition user {\n    relation boss: user\n    permission edit = boss->\n}',
    error: '4:1: expected the name of a relation or permission after "->", found "}"',
  },
  {
    rule: 'arrows are not chained',
    text: 'definition user {\n    relation boss: user\n    permission edit = boss->boss->edit\n}',
    error: '3:33: expected an operator: arrows cannot be chained, found "->"',
  },
  {
    rule: 'arrows do not reach self',
    text: 'use self\ndefinition user {\n    relation boss: user\n    permission edit = boss->self\n}',
    error: '4:29: expected the name of a relation or permission after "->", found "self"',
  },
  {
    rule: 'a comment is closed',
    text: 'definition user {} /* and so',
    error: '1:20: expected "*/" to end this comment',
  },
  {
    rule: 'characters belong to the language',
    text: 'definition user { $ }',
    error: '1:19: expected a name or punctuation, found "$"',
  },

  {
    rule: 'a type is defined once',
    text: `${user}${user}`,
    error: '2:12: expected a new name, "user" is defined already',
  },
  {
    rule: 'a caveat and a type have different names',
    text: 'caveat user(age int) {\n    age > 1\n}\ndefinition user {}',
    error: '4:12: expected a new name, "user" is defined already',
  },
  {
    rule: 'a relation and a permission have different names',
    text: 'definition user {\n    relation boss: user\n    permission boss = boss\n}',
    error: '3:16: expected a new name, "user" has "boss" already',
  },
  {
    rule: 'a subject type is given once',
    text: 'definition user {\n    relation boss: user | user\n}',
    error: '2:27: expected each subject type once, "user" is repeated',
  },
  {
    rule: 'subject types are defined',
    text: 'definition doc {\n    relation owner: user\n}',
    error: '2:21: expected a defined type, found "user"',
  },
  {
    rule: 'relations of subjects are defined',
    text: 'definition user {\n    relation boss: user#lead\n}',
    error: '2:20: expected a relation or permission of "user", found "lead"',
  },
  {
    rule: 'caveats of subjects are defined',
    text: 'definition user {\n    relation boss: user with care\n}',
    error: '2:20: expected a defined caveat, found "care"',
  },
  {
    rule: 'names in an expression are defined',
    text: 'definition user {\n    relation boss: user\n    permission edit = boss + lead\n}',
    error: '3:30: expected a relation or permission of "user", found "lead"',
  },
  {
    rule: 'arrows start at a relation of the type',
    text: 'definition user {\n    relation boss: user\n    permission lead = boss\n    permission edit = lead->boss\n}',
    error: '4:23: expected a relation of "user" before "->", found "lead"',
  },
  {
    rule: 'arrows do not pass everyone',
    text: 'definition user {\n    relation boss: user:*\n    permission edit = boss->edit\n}',
    error: '3:23: expected a relation without wildcards before "->", found "boss"',
  },
  {
    rule: 'sets of subjects do not bring everyone in',
    text: `${user}definition team {\n    relation crew: user:*\n}\ndefinition doc {\n    relation owner: team#crew\n}`,
    error: '6:21: expected a userset without wildcards, found "team#crew"',
  },
  {
    rule: 'permissions do not depend on each other in a ring',
    text: 'definition user {\n    permission edit = view\n    permission view = edit\n}',
    error: '2:16: expected a permission that does not depend on itself, found "edit"',
  },
  {
    rule: 'a permission does not depend on itself',
    text: 'definition user {\n    relation boss: user\n    permission edit = boss + edit\n}',
    error: '3:16: expected a permission that does not depend on itself, found "edit"',
    exclusion: 'SpiceDB takes the schema and fails at every check',
  },
  {
    rule: 'a caveat has fields',
    text: 'caveat free() {\n    true\n}',
    error: '1:13: expected a field name, found ")"',
  },
  {
    rule: 'fields of a caveat have types',
    text: 'caveat free(day date) {\n    day == day\n}',
    error: '1:13: expected the type of a field, such as "string", found "date"',
  },
  {
    rule: 'lists say of what',
    text: 'caveat free(days list) {\n    days == days\n}',
    error: '1:13: expected the type of a field, such as "string", found "list"',
  },
  {
    rule: 'fields have different names',
    text: 'caveat free(day int, day int) {\n    day == day\n}',
    error: '1:22: expected a new field, "day" is one already',
  },
  {
    rule: 'a caveat has an expression',
    text: 'caveat free(day int) {\n}',
    error: '2:1: expected an expression, found "}"',
  },
  {
    rule: 'a caveat is closed',
    text: 'caveat free(day int) {\n    day == 1\n',
    error: '1:22: expected "}" to end this caveat',
  },
]

/** The rules of the language, each as a text that keeps or breaks it. SpiceDB judges the same texts in its contract test. */
export const SCHEMA_CASES: readonly SchemaCase[] = [
  ...COMMON_CASES,
  ...TEXT_CASES,
  ...NAMES_CASES,
  ...FEATURES_CASES,
  ...RELATIONS_CASES,
  ...CONDITIONS_CASES,
  ...PERMISSIONS_CASES,
  ...ANNOTATIONS_CASES,
  ...PARTIALS_CASES,
  ...CAVEATS_CASES,
  ...EXPRESSIONS_CASES,
]
