import { describe, expect, test } from 'vitest'
import { HOPS_MAX, UndecidableError } from '../../../../../src/shared/authz/engine/undecidable.ts'
import { NO, UNKNOWN, VIOLATED, YES } from '../../../../../src/shared/authz/engine/verdict.ts'
import { compileSchema } from '../../../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../../../src/shared/authz/language/parser.ts'
import { SERVICE_MODEL } from '../../../../../src/shared/authz/service-model.ts'
import { PARENT_EDGES } from '../../../../support/authz/tree.ts'
import { engineOf } from '../../../../support/authz/tuples.ts'

const service = (...tuples: string[]) => engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...tuples])

describe('the path of a grant names what was passed, in order', () => {
  const granted = [
    ['nothing for a direct binding', 'domain:acme#admin@user:ann', 'domain:acme#admin@user:ann', []],
    ['the role behind a permission', 'domain:acme#viewer@user:ann', 'domain:acme#read@user:ann', ['viewer']],
    ['the role by the name of the API', 'domain:acme#auditor@user:ann', 'domain:acme#auditor@user:ann', ['auditor']],
    [
      'every permission on the way',
      'node:edge#operator@user:ann',
      'node:edge#read@user:ann',
      ['node-agent', 'node-operate', 'operator'],
    ],
    [
      'parents by their relation',
      'platform:main#admin@user:ann',
      'project:web#manage@user:ann',
      ['domain', 'manage', 'platform', 'manage', 'admin'],
    ],
  ] as const
  test.each(granted)('%s', (_, held, asked, path) => {
    expect(service(held).path(asked)).toEqual(path)
  })

  test('groups by their relation, each level', () => {
    const { path } = service(
      'domain:acme#admin@group:staff#member',
      'group:staff#member@group:night#member',
      'group:night#member@user:ann',
    )
    expect(path('domain:acme#manage@user:ann')).toEqual(['admin', 'member', 'member'])
  })

  test('everyone as a direct binding', () => {
    expect(service('project:web#viewer@user:*').path('project:web#viewer@user:zoe')).toEqual([])
  })

  test('both sides of an intersection, and what is left of an exclusion', () => {
    const schema = `definition user {}
definition doc {
    relation owner: user
    relation staff: user
    relation banned: user
    permission both = owner & staff
    permission sane = both - banned
}
`
    const { path } = engineOf(schema, ['doc:d#owner@user:u', 'doc:d#staff@user:u'])
    expect(path('doc:d#both@user:u')).toEqual(['owner', 'staff'])
    expect(path('doc:d#sane@user:u')).toEqual(['both', 'owner', 'staff'])
  })
})

describe('everyone', () => {
  const { ask } = service('project:web#viewer@user:*', 'node:edge#viewer@serviceaccount:*')

  test('is every subject of that type, known or not', () => {
    expect(ask('project:web#read@user:never-seen')).toBe('yes')
    expect(ask('node:edge#read@serviceaccount:robot')).toBe('yes')
  })

  test('is nobody of another type', () => {
    expect(ask('project:web#read@serviceaccount:robot')).toBe('no')
    expect(ask('node:edge#viewer@user:ann')).toBe('no')
  })

  test('cannot ask', () => {
    expect(ask('project:web#read@user:*')).toBe('refused: subject malformed')
    expect(ask('project:web#read@group:*')).toBe('refused: subject malformed')
    expect(ask('project:*#read@user:ann')).toBe('refused: resource malformed')
  })
})

describe('an object that nothing is known of', () => {
  const { ask } = service('platform:main#admin@user:root')

  test('is denied like any other', () => {
    expect(ask('project:nowhere#read@user:root')).toBe('no')
    expect(ask('project:nowhere#read@user:nobody')).toBe('no')
  })

  test('is still itself', () => {
    expect(ask('user:new#read@user:new')).toBe('yes')
    expect(ask('user:new#manage@user:new')).toBe('no')
    expect(ask('user:new#read@user:newer')).toBe('no')
  })

  test('is still itself when spelt in capitals', () => {
    const id = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
    expect(ask(`user:${id}#read@user:${id.toUpperCase()}`)).toBe('yes')
  })
})

test('a UUID in capitals is the object in lower case', () => {
  const id = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
  const { ask } = engineOf(SERVICE_MODEL, [`domain:${id}#admin@user:${id}`])
  expect(ask(`domain:${id.toUpperCase()}#manage@user:${id.toUpperCase()}`)).toBe('yes')
})

describe('a question that cannot be asked', () => {
  const { ask } = service()
  const refused = [
    ['domain:acme#read@ann', 'subject malformed'],
    ['domain:acme#read@user:', 'subject malformed'],
    ['domain:acme#read@:ann', 'subject malformed'],
    ['domain:acme#read@user:a b', 'subject malformed'],
    ['domain:acme#read@robot:r2', 'subject unknown'],
    ['acme#read@user:ann', 'resource malformed'],
    ['domain:#read@user:ann', 'resource malformed'],
    ['domain:\u00e4#read@user:ann', 'resource malformed'],
    ['disk:c#read@user:ann', 'resource unknown'],
    ['domain:acme#@user:ann', 'relation malformed'],
    ['domain:acme#fly@user:ann', 'relation unknown'],
    ['domain:acme#domain_view@user:ann', 'relation unknown'],
    ['domain:acme#auditor_role@user:ann', 'relation unknown'],
  ]
  test.each(refused)('%s: %s', (question, fault) => {
    expect(ask(question)).toBe(`refused: ${fault}`)
  })
})

test('a parent that does not exist grants nothing and hides nothing', () => {
  const edges = ['node:lost#domain@domain:gone', 'node:lost#operator@user:ann', 'domain:gone#platform@platform:none']
  const { ask } = engineOf(SERVICE_MODEL, edges)
  expect(ask('node:lost#read@user:ann')).toBe('yes')
  expect(ask('node:lost#read@user:bob')).toBe('no')
})

describe('groups that contain each other', () => {
  const ring = ['group:a#member@group:b#member', 'group:b#member@group:c#member', 'group:c#member@group:a#member']

  test('share their members', () => {
    const { ask } = engineOf(SERVICE_MODEL, [...ring, 'group:b#member@user:ann'])
    expect(['a', 'b', 'c'].map((group) => ask(`group:${group}#member@user:ann`))).toEqual(['yes', 'yes', 'yes'])
  })

  test('deny everybody else', () => {
    const { ask } = engineOf(SERVICE_MODEL, ring)
    expect(['a', 'b', 'c'].map((group) => ask(`group:${group}#member@user:ann`))).toEqual(['no', 'no', 'no'])
  })

  test('cost a few steps and no more, however many paths there are', () => {
    const groups = Array.from({ length: 12 }, (_, at) => `group:g${at}`)
    const all = groups.flatMap((outer) => groups.map((inner) => `${outer}#member@${inner}#member`))
    const { ask } = engineOf(SERVICE_MODEL, [...all, 'group:g11#member@user:ann'])
    expect(ask('group:g0#member@user:ann')).toBe('yes')
    expect(ask('group:g0#member@user:bob')).toBe('no')
  })
})

describe('an answer that was given while a cycle was open', () => {
  const schema = `definition user {}
definition folder {
    relation parent: folder
    relation other: folder
    relation reader: user
    permission view = parent->view + reader
    permission both = parent->view & other->view
}
`
  /** `a` leads to itself through the others, and is granted only after that way was tried. */
  const ring = (...names: string[]) => {
    const edges = names.map((name, at) => `folder:${name}#parent@folder:${names[at + 1] ?? 'a'}`)
    return [...edges, 'folder:a#reader@user:ann', 'folder:top#parent@folder:a']
  }

  test('is asked again once the cycle is granted', () => {
    const { ask } = engineOf(schema, [...ring('a', 'b'), 'folder:top#other@folder:b'])
    expect(ask('folder:top#both@user:ann')).toBe('yes')
  })

  test('is asked again however far below it was given', () => {
    const { ask } = engineOf(schema, [...ring('a', 'b', 'c', 'd'), 'folder:top#other@folder:b'])
    expect(ask('folder:top#both@user:ann')).toBe('yes')
  })
})

const chain = (length: number): string[] =>
  Array.from({ length }, (_, at) => `group:g${at}#member@group:g${at + 1}#member`)

describe('nesting', () => {
  test(`is followed through ${HOPS_MAX} tuples`, () => {
    const { ask } = engineOf(SERVICE_MODEL, [...chain(HOPS_MAX), `group:g${HOPS_MAX}#member@user:ann`])
    expect(ask('group:g0#member@user:ann')).toBe('yes')
  })

  test('beyond that is not answered, rather than denied', () => {
    const length = HOPS_MAX + 1
    const { ask } = engineOf(SERVICE_MODEL, [...chain(length), `group:g${length}#member@group:g#member`])
    expect(() => ask('group:g0#member@user:ann')).toThrow(new UndecidableError('nested deeper than 50 tuples'))
  })

  test('leaves the next check as it was', () => {
    const length = HOPS_MAX + 1
    const { ask } = engineOf(SERVICE_MODEL, [
      ...chain(length),
      `group:g${length}#member@group:g#member`,
      'group:x#member@user:ann',
    ])
    expect(() => ask('group:g0#member@user:ann')).toThrow(UndecidableError)
    expect(ask('group:x#member@user:ann')).toBe('yes')
  })
})

describe('an exclusion that depends on itself', () => {
  const schema = `definition user {}
definition folder {
    relation parent: folder
    relation reader: user
    relation owner: user
    permission read = reader - parent->read
    permission either = read + owner
    permission both = read & owner
    permission other = owner - read
    permission round = other + parent->round
}
`
  const ring = ['folder:a#parent@folder:a', 'folder:a#reader@user:u']

  test.each([
    ['grants where another way does', ['folder:a#owner@user:u'], 'folder:a#either@user:u', 'yes'],
    ['denies where something else is needed too', [], 'folder:a#both@user:u', 'no'],
    ['is not asked where there is nothing to exclude from', [], 'folder:a#other@user:u', 'no'],
    ['denies all the same beyond an arrow that comes back', [], 'folder:a#round@user:u', 'no'],
    ['does not concern whom it cannot exclude', ['folder:a#owner@user:v'], 'folder:a#other@user:v', 'yes'],
  ] as const)('%s', (_, more, asked, answer) => {
    expect(engineOf(schema, [...ring, ...more]).ask(asked)).toBe(answer)
  })

  test('leaves the path of what grants', () => {
    const { path } = engineOf(schema, [...ring, 'folder:a#owner@user:u'])
    expect(path('folder:a#either@user:u')).toEqual(['owner'])
  })

  test('is an error where all hangs on it, and for nobody else', () => {
    const { ask } = engineOf(schema, [...ring, 'folder:a#owner@user:u', 'folder:b#reader@user:u'])
    for (const asked of ['folder:a#read@user:u', 'folder:a#both@user:u', 'folder:a#other@user:u']) {
      expect(() => ask(asked)).toThrow(new UndecidableError('an exclusion depends on itself'))
    }
    expect(ask('folder:b#read@user:u')).toBe('yes')
  })
})

describe('a caveat', () => {
  const holder = ['domain:acme#admin@user:ann[strong_auth]']
  const under = (verdict: number, ...tuples: string[]) =>
    engineOf(SERVICE_MODEL, [...PARENT_EDGES, ...tuples], () => verdict)

  test.each([
    [YES, 'yes'],
    [VIOLATED, 'violated'],
    [UNKNOWN, 'unknown'],
  ])('decides the grant that needs it (%i: %s)', (verdict, answer) => {
    expect(under(verdict, ...holder).ask('project:web#manage@user:ann')).toBe(answer)
  })

  test('says nothing of who would not be granted anyway', () => {
    expect(under(VIOLATED, ...holder).ask('project:web#manage@user:bob')).toBe('no')
    expect(
      under(VIOLATED, 'domain:acme#admin@group:staff#member[strong_auth]').ask('domain:acme#manage@user:bob'),
    ).toBe('no')
  })

  test('is not needed where another grant holds', () => {
    const both = under(UNKNOWN, ...holder, 'project:web#viewer@user:ann')
    expect(both.ask('project:web#read@user:ann')).toBe('yes')
    expect(both.path('project:web#read@user:ann')).toEqual(['viewer'])
    expect(both.ask('project:web#manage@user:ann')).toBe('unknown')
  })

  test('on a membership decides what the group grants', () => {
    const tuples = ['domain:acme#admin@group:staff#member', 'group:staff#member@user:ann[within_hours]']
    expect(under(VIOLATED, ...tuples).ask('domain:acme#manage@user:ann')).toBe('violated')
    expect(under(YES, ...tuples).ask('domain:acme#manage@user:ann')).toBe('yes')
  })
})

describe('an arrow that wants all', () => {
  const text = `caveat inside(place string) {
    place == "inside"
}
definition user {}
definition team {
    relation member: user
    relation lead: user
}
definition bin {}
definition folder {
    relation reader: user
    permission view = reader
}
definition doc {
    relation parent: folder | bin | folder with inside
    relation crew: team#member | team#lead | folder
    permission seen = parent->view
    permission crewed = crew->member
    permission viewed = crew->view
}
`
  const readers = ['folder:f#reader@user:ann', 'folder:g#reader@user:ann', 'folder:h#reader@user:bob']

  /** The arrows of `doc` as if they were written with `.all()`. */
  function withAll(tuples: readonly string[], verdict = UNKNOWN) {
    const model = compileSchema(parseSchema(text))
    for (const permission of model.type('doc')?.permissions ?? []) {
      Object.assign(permission, { expression: { ...permission.expression, op: 'all' } })
    }
    return engineOf(model, [...readers, ...tuples], () => verdict)
  }

  // Each row was asked of SpiceDB 1.54.
  test.each([
    ['holds where every object grants', ['doc:d#parent@folder:f', 'doc:d#parent@folder:g'], 'seen', 'yes'],
    ['fails where one does not', ['doc:d#parent@folder:f', 'doc:d#parent@folder:h'], 'seen', 'no'],
    ['fails where nothing is reached', [], 'seen', 'no'],
    ['fails where an object has no such permission', ['doc:d#parent@folder:f', 'doc:d#parent@bin:x'], 'seen', 'no'],
    ['fails where only such objects are reached', ['doc:d#parent@bin:x'], 'seen', 'no'],
    ['is unknown where a tuple is', ['doc:d#parent@folder:f', 'doc:d#parent@folder:g[inside]'], 'seen', 'unknown'],
    ['fails in spite of that', ['doc:d#parent@folder:f', 'doc:d#parent@folder:h[inside]'], 'seen', 'no'],
    [
      'asks the object of a set, once for each of its sets',
      ['team:t#member@user:ann', 'doc:d#crew@team:t#member', 'doc:d#crew@team:t#lead'],
      'crewed',
      'yes',
    ],
    ['takes objects and sets together', ['doc:d#crew@folder:f', 'doc:d#crew@team:t#member'], 'viewed', 'no'],
  ])('%s', (_, tuples, permission, answer) => {
    expect(withAll(tuples).ask(`doc:d#${permission}@user:ann`)).toBe(answer)
  })

  test('is violated where the caveat of one tuple is', () => {
    const tuples = ['doc:d#parent@folder:f', 'doc:d#parent@folder:g[inside]']
    expect(withAll(tuples, VIOLATED).ask('doc:d#seen@user:ann')).toBe('violated')
    expect(withAll(tuples, YES).ask('doc:d#seen@user:ann')).toBe('yes')
  })

  test('passes over tuples that have expired', () => {
    const expired = 'doc:d#parent@folder:h[inside]'
    expect(withAll(['doc:d#parent@folder:f', expired], NO).ask('doc:d#seen@user:ann')).toBe('yes')
    expect(withAll([expired], NO).ask('doc:d#seen@user:bob')).toBe('no')
  })

  test('names the way to one of them', () => {
    const { path } = withAll(['doc:d#parent@folder:f', 'doc:d#parent@folder:g'])
    expect(path('doc:d#seen@user:ann')).toEqual(['parent', 'view', 'reader'])
  })
})
