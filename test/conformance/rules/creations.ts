import { expect } from 'vitest'
import { jsonSchemaOf } from '../../../src/shared/contract/json-schema.ts'
import { isMedia, type Operation } from '../../../src/shared/contract/operation.ts'
import type { Placed } from '../placed.ts'
import { expectListed, expectShown, untilGranted } from './answers.ts'
import type { Row } from './lists.ts'
import { send, wireOf, type Rule } from './rule.ts'

const creates = ({ method, responses, headers = {} }: Operation): boolean =>
  method === 'POST' && responses[201] !== undefined && 'Location' in headers

/** Where created objects are found. */
export const creationRules: readonly Rule[] = [
  {
    title: 'creates with 201 what its Location, or the list beside it, shows with the same members',
    applies: creates,
    async check(subject) {
      const call = await subject.arrange()
      const { answer } = await send(subject, wireOf(subject, call), call.as)
      expect(answer.status, answer.text).toBe(201)
      const row = withoutSecrets(subject.operation, answer.json ?? {})
      const location = String(answer.headers['location'])
      const methods = methodsAt(subject.contract, location)
      expect(methods, `operations at ${location}`).not.toEqual([])
      await untilGranted(subject, location)
      const { body: _body, ...input } = call.input
      if (methods.includes('GET') && !isListPath(subject.operation, location)) await expectShown(subject, location, row)
      else await expectListed(subject, subject.operation.path, { row, input })
    },
  },
]

/** What is shown once is not shown again. */
function withoutSecrets({ responses }: Operation, row: Row): Row {
  const created = responses[201] ?? null
  const { properties = {} } = created === null || isMedia(created) ? {} : jsonSchemaOf(created, 'output')
  const isSecret = (name: string): boolean => JSON.stringify(properties[name] ?? {}).includes('x-service-write-once')
  return Object.fromEntries(Object.entries(row).filter(([name]) => !isSecret(name)))
}

/** Methods that the contract has for a path. */
function methodsAt(contract: readonly Placed[], path: string): readonly string[] {
  return contract.flatMap(({ operation }) => (patternOf(operation.path).test(path) ? [operation.method] : []))
}

/** Whether a path is that of the operation itself, as of a created object that no operation shows. */
const isListPath = ({ path }: Operation, location: string): boolean => patternOf(path).test(location)

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
