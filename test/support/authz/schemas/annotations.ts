import type { SchemaCase } from './schema-case.ts'

/** Types that a permission may come down to. */
export const ANNOTATIONS_CASES: readonly SchemaCase[] = [
  {
    rule: 'a permission may name the types that it comes down to',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user = owner\n}',
    error: undefined,
  },
  {
    rule: 'a permission may name more types than it comes down to',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user | team = owner\n}',
    error: undefined,
  },
  {
    rule: 'a type may be named twice',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user | user = owner\n}',
    error: undefined,
  },
  {
    rule: 'a permission names every type that it comes down to',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: team = owner\n}',
    error: '10:16: expected "edit" to name every type that may be granted it, "user" is missing',
  },
  {
    rule: 'types behind an arrow count',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: team = team->member\n}',
    error: '10:16: expected "edit" to name every type that may be granted it, "user" is missing',
  },
  {
    rule: 'types behind an arrow are those of the target',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user = team->member\n}',
    error: undefined,
  },
  {
    rule: 'types behind all() count',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: team = team.all(member)\n}',
    error: '10:16: expected "edit" to name every type that may be granted it, "user" is missing',
  },
  {
    rule: 'sets count as what they hold',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user = other\n}',
    error: undefined,
  },
  {
    rule: 'what is excluded counts too',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user = owner - team\n}',
    error: '10:16: expected "edit" to name every type that may be granted it, "team" is missing',
  },
  {
    rule: 'types that are named need not be defined',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: nobody | user = owner\n}',
    error: undefined,
  },
  {
    rule: 'nil comes down to nothing',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: team = nil\n}',
    error: undefined,
  },
  {
    rule: 'a named type has no prefix',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: ten/user = owner\n}',
    error: '10:25: expected "=", found "/"',
  },
  {
    rule: 'a named type is no wildcard',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user:* = owner\n}',
    error: '10:26: expected "=", found ":"',
  },
  {
    rule: 'a colon is followed by a type',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: = owner\n}',
    error: '10:22: expected a type name after ":", found "="',
  },
  {
    rule: 'a bar is followed by a type',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user | = owner\n}',
    error: '10:29: expected a type name after "|", found "="',
  },
  {
    rule: 'named types are followed by an expression',
    text: 'use typechecking\ndefinition user {}\ndefinition team {\n    relation member: user | team#member\n}\ndefinition doc {\n    relation owner: user\n    relation team: team\n    relation other: team#member | user:*\n    permission edit: user\n}',
    error: '10:26: expected "=", found the end of the line',
  },
  {
    rule: 'named types count only where typechecking is switched on',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    permission edit: team = owner\n}',
    error: undefined,
  },
]
