import type { SchemaCase } from './schema-case.ts'

/** Subject types of relations. */
export const RELATIONS_CASES: readonly SchemaCase[] = [
  {
    rule: 'a subject may be the object itself by name',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user#... | user:*\n}',
    error: undefined,
  },
  {
    rule: 'the object itself by name does not end a line',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user#...\n}',
    error: '4:1: expected the end of the line after a relation, found "}"',
  },
  {
    rule: 'the object itself is one subject type, however it is said',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user#... | user\n}',
    error: '3:32: expected each subject type once, "user" is repeated',
  },
  {
    rule: 'a wildcard may have blanks',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user : *\n}',
    error: undefined,
  },
  {
    rule: 'a wildcard has a star',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user:\n}',
    error: '4:1: expected "*", found "}"',
  },
  {
    rule: 'a set of subjects has a relation',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user#\n}',
    error: '4:1: expected a relation name after "#", found "}"',
  },
  {
    rule: 'a set of subjects has one relation',
    text: 'definition user {}\ndefinition doc {\n    relation owner: doc#owner#owner\n}',
    error: '3:30: expected the end of the line after a relation, found "#"',
  },
  {
    rule: 'subject types are parted by bars',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user, doc\n}',
    error: '3:25: expected the end of the line after a relation, found ","',
  },
  {
    rule: 'subject types do not begin with a bar',
    text: 'definition user {}\ndefinition doc {\n    relation owner: | user\n}',
    error: '3:21: expected a subject type, found "|"',
  },
  {
    rule: 'subject types do not end with a bar',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user |\n}',
    error: '4:1: expected a subject type, found "}"',
  },
  {
    rule: 'subject types have no parentheses',
    text: 'definition user {}\ndefinition doc {\n    relation owner: (user)\n}',
    error: '3:21: expected a subject type, found "("',
  },
  {
    rule: 'a relation has a colon',
    text: 'definition user {}\ndefinition doc {\n    relation owner user\n}',
    error: '3:20: expected ":", found "user"',
  },
  {
    rule: 'a relation has a name',
    text: 'definition user {}\ndefinition doc {\n    relation: user\n}',
    error: '3:13: expected a relation name, found ":"',
  },
  {
    rule: 'nil is no subject type',
    text: 'definition user {}\ndefinition doc {\n    relation owner: nil\n}',
    error: '3:21: expected a subject type, found "nil"',
  },
  {
    rule: 'an object, everyone and a set are three subject types',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user | user:* | doc#owner\n}',
    error: undefined,
  },
  {
    rule: 'a relation may take its own subjects',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user | doc#owner\n}',
    error: undefined,
  },
  {
    rule: 'a relation of the same type must be defined',
    text: 'definition user {}\ndefinition doc {\n    relation owner: doc#lead\n}',
    error: '3:21: expected a relation or permission of "doc", found "lead"',
  },
  {
    rule: 'a set of the same type may bring everyone in',
    text: 'definition user {\n    relation boss: user:*\n    relation crew: user#boss\n}',
    error: undefined,
  },
  {
    rule: 'a relation that takes everyone may take itself',
    text: 'definition user {\n    relation boss: user:* | user#boss\n}',
    error: undefined,
  },
  {
    rule: 'a permission may bring everyone in as a set',
    text: 'definition user {\n    relation boss: user:*\n    permission lead = boss\n}\ndefinition doc {\n    relation owner: user#lead\n}',
    error: undefined,
  },
  {
    rule: 'sets of sets do not bring everyone in',
    text: 'definition user {\n    relation boss: user:*\n    relation crew: user#boss\n}\ndefinition doc {\n    relation owner: user#crew\n}',
    error: '6:21: expected a userset without wildcards, found "user#crew"',
  },
  {
    rule: 'a relation of another type that brings everyone in is refused, whatever came before',
    text: 'definition user {}\ndefinition team {\n    relation member: user\n}\ndefinition club {\n    relation member: user:*\n}\ndefinition doc {\n    relation owner: team#member | club#member\n}',
    error: '9:35: expected a userset without wildcards, found "club#member"',
    exclusion: "SpiceDB remembers by the relation's name alone whether it takes everyone",
  },
  {
    rule: 'a subject is no caveat',
    text: 'caveat care(day int) {\n    day > 1\n}\ndefinition doc {\n    relation owner: care\n}',
    error: '5:21: expected a defined type, found "care"',
  },
  {
    rule: 'a caveat is no type',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user with user\n}',
    error: '3:21: expected a defined caveat, found "user"',
  },
]
