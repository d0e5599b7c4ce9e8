import type { SchemaCase } from './schema-case.ts'

/** Expressions of permissions. */
export const PERMISSIONS_CASES: readonly SchemaCase[] = [
  {
    rule: 'operators mix without parentheses',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner + owner & owner - owner + owner\n}',
    error: undefined,
  },
  {
    rule: 'parentheses nest',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = ((owner) + (owner - (owner & owner)))\n}',
    error: undefined,
  },
  {
    rule: 'parentheses hold an expression',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = ()\n}',
    error: '5:24: expected the name of a relation or permission, "self", "nil" or "(", found ")"',
  },
  {
    rule: 'parentheses are opened',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner)\n}',
    error: '5:28: expected the end of the line after a permission, found ")"',
  },
  {
    rule: 'names need an operator between them',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner owner\n}',
    error: '5:29: expected the end of the line after a permission, found "owner"',
  },
  {
    rule: 'an operator has a left side',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = + owner\n}',
    error: '5:23: expected the name of a relation or permission, "self", "nil" or "(", found "+"',
  },
  {
    rule: 'operators are not doubled',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner ++ owner\n}',
    error: '5:30: expected the name of a relation or permission, "self", "nil" or "(", found "+"',
  },
  {
    rule: 'bars are not operators',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner | owner\n}',
    error: '5:29: expected the end of the line after a permission, found "|"',
  },
  {
    rule: 'conditions are not operators',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner && owner\n}',
    error: '5:29: expected the end of the line after a permission, found "&&"',
  },
  {
    rule: 'text is no expression',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = "owner"\n}',
    error: '5:23: expected the name of a relation or permission, "self", "nil" or "(", found "\\"owner\\""',
  },
  {
    rule: 'a relation of other objects is no operand',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = owner#folder\n}',
    error: '5:28: expected the end of the line after a permission, found "#"',
  },
  {
    rule: 'a type is no operand',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = user\n}',
    error: '5:23: expected a relation or permission of "doc", found "user"',
  },
  {
    rule: 'an operator at the end of a line goes on in parentheses',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = (owner +\n    owner)\n}',
    error: undefined,
  },
  {
    rule: 'a line does not end within parentheses',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = (owner\n    )\n}',
    error: '5:29: expected ")", found the end of the line',
  },
  {
    rule: 'an arrow may be spelt any()',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.any(owner)\n}',
    error: undefined,
  },
  {
    rule: 'all() asks every object',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all(owner)\n}',
    error: undefined,
  },
  {
    rule: 'any() and all() may have blanks',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder . all ( owner )\n}',
    error: undefined,
  },
  {
    rule: 'any() and all() may begin on the next line',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.\n    all(\n    owner)\n}',
    error: undefined,
  },
  {
    rule: 'any() and all() do not follow a line break',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder\n    .all(owner)\n}',
    error: '6:5: expected "relation", "permission" or "}", found "."',
  },
  {
    rule: 'other functions are not taken',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.some(owner)\n}',
    error: '5:30: expected "any" or "all" after ".", found "some"',
  },
  {
    rule: 'functions are lower case',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.ALL(owner)\n}',
    error: '5:30: expected "any" or "all" after ".", found "ALL"',
  },
  {
    rule: 'all() has a target',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all()\n}',
    error: '5:34: expected the name of a relation or permission after ".all(", found ")"',
  },
  {
    rule: 'all() has one name for target',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all(owner + owner)\n}',
    error: '5:40: expected ")", found "+"',
  },
  {
    rule: 'all() does not reach nil',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all(nil)\n}',
    error: '5:34: expected the name of a relation or permission after ".all(", found "nil"',
  },
  {
    rule: 'all() has parentheses',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all\n}',
    error: '5:33: expected "(", found the end of the line',
  },
  {
    rule: 'a function has a name',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.\n}',
    error: '6:1: expected "any" or "all" after ".", found "}"',
  },
  {
    rule: 'any() and arrows are not chained',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.any(folder)->owner\n}',
    error: '5:41: expected an operator: arrows cannot be chained, found "->"',
  },
  {
    rule: 'arrows and all() are not chained',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder->folder.all(owner)\n}',
    error: '5:37: expected an operator: arrows cannot be chained, found "."',
  },
  {
    rule: 'all() starts at a relation of the type',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = edit.all(owner)\n}',
    error: '5:23: expected a relation of "doc" before "->", found "edit"',
  },
  {
    rule: 'all() starts at a relation that is defined',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = parent.all(owner)\n}',
    error: '5:23: expected a relation of "doc" before "->", found "parent"',
  },
  {
    rule: 'all() does not pass everyone',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user:*\n    permission edit = owner.all(edit)\n}',
    error: '4:23: expected a relation without wildcards before "->", found "owner"',
  },
  {
    rule: 'any() does not pass everyone among others',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user | user:*\n    permission edit = owner.any(edit)\n}',
    error: '4:23: expected a relation without wildcards before "->", found "owner"',
  },
  {
    rule: 'arrows do not pass sets that bring everyone in',
    text: 'definition user {\n    relation boss: user:*\n    relation crew: user#boss\n    permission edit = crew->edit\n}',
    error: '4:23: expected a relation without wildcards before "->", found "crew"',
  },
  {
    rule: 'arrows may reach a relation of their own',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder->folder\n}',
    error: undefined,
  },
  {
    rule: 'arrows may reach a permission of their own',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder->edit\n}',
    error: undefined,
  },
  {
    rule: 'arrows do not reach nil',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder->nil\n}',
    error: '5:31: expected the name of a relation or permission after "->", found "nil"',
  },
  {
    rule: 'arrows do not start at nil',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = nil->owner\n}',
    error: '5:26: expected the end of the line after a permission, found "->"',
  },
  {
    rule: 'arrows may go on after their sign',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder->\n    owner\n}',
    error: undefined,
  },
  {
    rule: 'arrows do not follow a line break',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder\n    ->owner\n}',
    error: '6:5: expected "relation", "permission" or "}", found "->"',
  },
  {
    rule: 'nil is an operand like any other',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = nil + owner - nil & (nil)\n}',
    error: undefined,
  },
  {
    rule: 'self is an operand like any other',
    text: 'use self\ndefinition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = self + owner - (self & folder->owner)\n}',
    error: undefined,
  },
  {
    rule: 'arrows do not start at self',
    text: 'use self\ndefinition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = self->owner\n}',
    error: '6:27: expected the end of the line after a permission, found "->"',
  },
  {
    rule: 'all() does not reach self',
    text: 'use self\ndefinition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = folder.all(self)\n}',
    error: '6:34: expected the name of a relation or permission after ".all(", found "self"',
  },
  {
    rule: 'self needs an operator too',
    text: 'use self\ndefinition user {}\ndefinition doc {\n    relation owner: user\n    relation folder: doc\n    permission edit = self self\n}',
    error: '6:28: expected the end of the line after a permission, found "self"',
  },
  {
    rule: 'permissions may refer to later ones',
    text: 'definition user {}\ndefinition doc {\n    permission edit = view\n    permission view = nil\n}',
    error: undefined,
  },
  {
    rule: 'permissions may ask themselves of other objects',
    text: 'definition user {}\ndefinition doc {\n    relation folder: doc\n    permission edit = folder->edit\n}',
    error: undefined,
  },
  {
    rule: 'permissions may ask themselves through sets',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user | doc#edit\n    permission edit = owner\n}',
    error: undefined,
  },
  {
    rule: 'a ring of permissions may be long',
    text: 'definition user {\n    permission edit = view\n    permission view = lead\n    permission lead = edit\n}',
    error: '2:16: expected a permission that does not depend on itself, found "edit"',
  },
  {
    rule: 'permissions do not depend on each other in a wider ring',
    text: 'definition user {}\ndefinition doc {\n    relation owner: user\n    permission edit = view + owner\n    permission view = edit\n}',
    error: '4:16: expected a permission that does not depend on itself, found "edit"',
    exclusion: 'SpiceDB takes the schema and fails at every check',
  },
]
