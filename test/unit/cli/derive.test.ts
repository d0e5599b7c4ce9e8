import { listOf } from '../../../src/cli/session/noun-lists.ts'
import { describe, expect, it } from 'vitest'
import { flagsOf } from '../../../src/cli/derive/derive.ts'
import { membersOf } from '../../../src/cli/derive/members.ts'
import { ALL_SHARED } from '../../../src/cli/argv/flags.ts'
import { commandRows } from '../../../src/cli/argv/registry.ts'
import { readCommandLine } from '../../../src/cli/argv/command-line.ts'
import { growTree } from '../../../src/cli/argv/tree.ts'
import type { ManifestOperation } from '../../../src/shared/contract/manifest-format.ts'
import { manifest } from '../../support/cli/cli-run.ts'

const root = growTree(commandRows(manifest))
const spoken: readonly (readonly [string, ManifestOperation])[] = Object.entries(manifest.operations).filter(
  ([, { cli }]) => cli !== undefined,
)

describe('An operation with words for the command line', () => {
  it.each(spoken)('%s has a command', async (_, { cli }) => {
    const { branch } = await readCommandLine((cli?.command ?? '').split(' '), root, manifest)
    expect(branch.row?.words).toBe(cli?.command)
  })

  it.each(spoken)('%s names members that it has', (_, { cli, params, query, body }) => {
    const members = [...params, ...query, ...(body?.fields ?? [])].map(({ name }) => name)
    const named = [
      ...(cli?.args ?? []),
      ...Object.keys(cli?.refs ?? {}),
      ...Object.entries(cli?.sameAs ?? {}).flat(),
      ...(cli?.selector === undefined ? [] : [cli.selector]),
      ...(cli?.ownDomain ? [cli.ownDomain.member] : []),
    ]
    expect(members).toEqual(expect.arrayContaining(named))
  })

  it('types flags in its own way only for members of its surface', () => {
    const membersOfSurface = (surface: string): readonly string[] =>
      spoken.flatMap(([, one]) => (one.surface === surface ? membersOf(one).map(({ field }) => field.name) : []))
    const strangers = spoken.flatMap(([id, { cli, surface }]) => {
      const members = membersOfSurface(surface)
      return Object.keys(cli?.flags ?? {}).flatMap((member) => (members.includes(member) ? [] : [`${id} ${member}`]))
    })
    expect(strangers).toEqual([])
  })

  it.each(spoken)('%s refers to nouns that can be listed', (_, { cli }) => {
    const nouns = Object.values(cli?.refs ?? {}).filter((noun) => !['subjects', 'objects'].includes(noun))
    expect(nouns.filter((noun) => listOf(manifest, noun) === undefined)).toEqual([])
  })

  it.each(spoken)('%s has a flag of its own for each member, and hides no shared one', (_, operation) => {
    const words = membersOf(operation).map(({ word }) => word)
    expect(new Set(words).size).toBe(words.length)
    expect(Object.keys(flagsOf(operation, manifest)).filter((flag) => flag in ALL_SHARED)).toEqual([])
  })

  it.each(spoken.filter(([, { cli }]) => cli?.done !== undefined))(
    '%s fills every hole of its sentence',
    (_, operation) => {
      const holes = [...(operation.cli?.done ?? '').matchAll(/\{(\w+)/g)].map(([, hole]) => hole)
      const isEmpty = operation.responses.every(({ media }) => media === null)
      const members = membersOf(operation).map(({ field }) => field.name)
      if (isEmpty) expect(members).toEqual(expect.arrayContaining(holes))
    },
  )
})

describe('--if-not-exists', () => {
  const TAKEN = /^(slug_conflict|\w+_already_exists|idp_binding_conflict)$/
  const creating = spoken.filter(
    ([id, { method, problems }]) =>
      method === 'POST' &&
      !['BulkCreateRelationTuples', 'PostAuthzImpact'].includes(id) &&
      problems.some((code) => TAKEN.test(code)),
  )
  const TUPLES = ['CreateRelationTuple', 'CreateDomainGrant', 'CreatePlatformGrant']

  it.each(creating)(
    'belongs to %s: what it creates has a handle, or is created twice without a failure',
    (id, operation) => {
      const isDerived = Object.keys(flagsOf(operation, manifest)).includes('if-not-exists')
      expect(isDerived).toBe(!TUPLES.includes(id))
    },
  )

  it.each(spoken.filter(([, { cli }]) => cli?.handle !== undefined))(
    '%s names a member of its body, a code of its own and a noun that can be listed',
    (_, { body, problems, cli }) => {
      const { member, taken, noun = cli?.command.split(' ')[0] } = cli?.handle ?? {}
      expect(body?.fields.map(({ name }) => name)).toContain(member)
      expect(problems).toContain(taken)
      expect(listOf(manifest, noun ?? '')).toBeDefined()
    },
  )
})

describe('A flag', () => {
  it.each([
    ['CreateJoinToken', ['domain', 'ttl', 'max-uses', 'project', 'labels', 'ephemeral', 'node', 'from-file']],
    ['GetProject', ['domain']],
    ['GetResource', ['project', 'domain']],
    ['ListNodes', ['domain', 'name', 'reachability', 'kind', 'selector']],
    ['DeleteNode', ['selector', 'domain']],
    [
      'CreateResource',
      ['project', 'kind', 'display-name', 'host-node', 'domain', 'from-file', 'if-not-exists', 'managed-by'],
    ],
  ])('of %s is called as people would', (id, flags) => {
    const operation = manifest.operations[id]
    if (!operation) throw new Error(`no ${id}`)
    expect(Object.keys(flagsOf(operation, manifest)).toSorted()).toEqual(flags.toSorted())
  })
})
