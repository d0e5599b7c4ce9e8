import { describe, expect, it } from 'vitest'
import { pathOf } from '../../../../src/cli/domain-files/folder/layout.ts'

/** Kinds with names that differ, of which a careless spelling makes the same file. */
const APART: readonly (readonly [string, readonly string[]])[] = [
  ['service-identity', ['ci/build', 'ci.build', 'ci:build', 'ci~2Fbuild', 'ci build']],
  ['service-identity', ['build', 'Build', 'BUILD']],
  ['service-identity', [`${'a'.repeat(200)}1`, `${'a'.repeat(200)}2`]],
  ['grants', ['user:a/b', 'user:a.b', 'user:a:b', 'user:a~2Fb']],
  ['label-definition', ['project:web/tier', 'project.web.tier', 'web/tier', 'web.tier']],
]

describe('The file of an object', () => {
  it.each([
    ['group', 'oncall', 'groups/oncall.yaml'],
    ['resource', 'web/edge-1', 'resources/web/edge-1.yaml'],
    ['grants', 'group:ops', 'grants/group.ops.yaml'],
    ['grants', 'user:ann@example.org', 'grants/user.ann~40example.org.yaml'],
    ['label-definition', 'project:web/canary', 'labels/web/canary.yaml'],
    ['service-identity', '../../etc/passwd', 'service-identities/~2e.~2F..~2Fetc~2Fpasswd.yaml'],
    ['domain', 'domain', 'domain.yaml'],
  ])('is found by the name of the object: %s %s', (kind, name, path) => {
    expect(pathOf(kind, name)).toBe(path)
  })

  it.each(APART)('is that of no other object, also where case does not count: %s %j', (kind, names) => {
    expect(new Set(names.map((name) => pathOf(kind, name).toLowerCase())).size).toBe(names.length)
  })
})
