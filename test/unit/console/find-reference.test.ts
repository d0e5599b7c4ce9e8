import { describe, expect, test } from 'vitest'
import type { Api } from '../../../src/console/api/client.ts'
import { Failure } from '../../../src/console/api/failure.ts'
import { findReference, type Places } from '../../../src/console/api/find-reference.ts'

const ID = '019c1a10-0000-7000-8000-0000000d0001'
const BUILD = '019c1a10-0000-7000-8000-0000000b0001'
const OTHER = '019c1a10-0000-7000-8000-0000000b0002'

const row = (id: string, display_name: string, more: object = {}) => ({ id, display_name, ...more })
const IDENTITIES = [row(BUILD, 'Builder'), row(OTHER, 'Twin'), row(ID, 'Twin')]

type Answer = (sent: Readonly<Record<string, string>>) => object

function placesOf(answers: Readonly<Record<string, Answer>> = {}): Places & { readonly asked: string[] } {
  const asked: string[] = []
  // A stub answers what a test has for an operation.
  const call = async (id: string, sent: Readonly<Record<string, string>>): Promise<object> => {
    asked.push(id)
    const answer = answers[id]
    if (answer === undefined) throw new Failure(500, {})
    return answer(sent)
  }
  return {
    asked,
    api: { call } as unknown as Api,
    me: { subject: 'user:1' },
    domain: { id: ID },
    domains: [row(ID, 'Acme Inc', { slug: 'acme' })],
    nodes: [
      { id: BUILD, display_name: 'web-1' },
      { id: OTHER, display_name: 'db' },
    ],
  }
}

const find = (text: string, places: Places = placesOf()) => findReference(text, places, new AbortController().signal)

/** The list of identities: with a handle, only the one that has it. */
const ListIdentities: Answer = ({ handle }) => ({
  items: handle === undefined ? IDENTITIES : handle === 'build' ? [row(BUILD, 'Builder')] : [],
})

describe('a name in the search of the audit', () => {
  test.each([
    ['me', 'user:1'],
    ['platform', 'platform:main'],
    ['web-1', `node:${BUILD}`],
    ['node:db', `node:${OTHER}`],
    ['node:000b0002', `node:${OTHER}`],
    ['domain:acme', `domain:${ID}`],
    ['domain:ACME INC', `domain:${ID}`],
    [`service:${BUILD}`, `serviceaccount:${BUILD}`],
    ['system:approvals', 'system:approvals'],
    ['token:abc', 'token:abc'],
  ])('%s is %s, without a question to the server', async (text, reference) => {
    const places = placesOf()
    expect(await find(text, places)).toEqual({ reference })
    expect(places.asked).toEqual([])
  })

  test('of a service identity is its handle, else its display name, else the end of its id', async () => {
    for (const name of ['build', 'builder', '000b0001']) {
      expect(await find(`service:${name}`, placesOf({ ListIdentities }))).toEqual({
        reference: `serviceaccount:${BUILD}`,
      })
    }
  })

  test('of a Project and of a group is its slug', async () => {
    const items = () => ({ items: [row(OTHER, 'Web', { slug: 'web' })] })
    expect(await find('project:web', placesOf({ ListProjects: items }))).toEqual({ reference: `project:${OTHER}` })
    expect(await find('group:web', placesOf({ ListGroups: items }))).toEqual({ reference: `group:${OTHER}` })
  })

  test.each([
    ['service:nothing', /^There is no service identity “nothing” that you may read\. Write me, user:NAME/],
    ['nothing', /^There is no node “nothing” that you may read\./],
    ['service:twin', /^“twin” is the name of 2 objects: give service: with the end of the id\.$/],
  ])('%s is a fault of the field', async (text, fault) => {
    expect(await find(text, placesOf({ ListIdentities }))).toEqual({ fault: expect.stringMatching(fault) as string })
  })

  test('that the person may not look up is a fault of the field; another failure is one of the search', async () => {
    const denied: Answer = () => {
      throw new Failure(403, {})
    }
    expect(await find('user:ann', placesOf({ ListIdentities: denied }))).toEqual({
      fault: 'You may not look a user up by its name here: give the type with its whole id.',
    })
    await expect(find('user:ann')).rejects.toThrow('The server answered 500')
  })
})
