import { expect, test } from 'vitest'
import { contract } from '../../../../src/shared/contract/index.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'

type Json = Readonly<Record<string, unknown>>

const document = openApiOf(contract)
// The shape is what is walked.
const components = document['components'] as Readonly<Record<string, Readonly<Record<string, Json>>>>
const operations = Object.values(document['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>).flatMap(
  (methods) => Object.values(methods),
)

function isDescribed({ description, $ref }: Json): boolean {
  return $ref !== undefined || (typeof description === 'string' && description.trim().length > 0)
}

/** Members of a schema without a description, at any depth; a reference has that of its component. */
function undescribed(schema: unknown, at: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((each) => undescribed(each, at))
  const { properties = {}, items, additionalProperties, anyOf, oneOf, allOf } = schema as Readonly<Record<string, Json>>
  const members = Object.entries(properties as Readonly<Record<string, Json>>).flatMap(([name, member]) => [
    ...(isDescribed(member) ? [] : [`${at}.${name}`]),
    ...undescribed(member, `${at}.${name}`),
  ])
  return [...members, ...[items, additionalProperties, anyOf, oneOf, allOf].flatMap((each) => undescribed(each, at))]
}

test.each(['schemas', 'headers', 'responses', 'securitySchemes'])('each of the %s is described', (kind) => {
  const missing = Object.entries(components[kind] ?? {}).filter(([, each]) => !isDescribed(each))
  expect(missing.map(([name]) => name)).toEqual([])
})

test('every member of every schema is described', () => {
  const missing = Object.entries(components['schemas'] ?? {}).flatMap(([name, schema]) => undescribed(schema, name))
  expect([...new Set(missing)]).toEqual([])
})

test('every operation is described, and not in the words of its summary', () => {
  const missing = operations.filter((each) => !isDescribed(each) || each['description'] === each['summary'])
  expect(missing.map((each) => each['operationId'])).toEqual([])
})

test('every parameter and every body is described', () => {
  const missing = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
    ...(parameters as readonly Json[]).filter((each) => !isDescribed(each)).map((each) => [operationId, each['name']]),
    ...(requestBody === undefined || isDescribed(requestBody as Json) ? [] : [[operationId, 'body']]),
  ])
  expect(missing).toEqual([])
})

test('every answer and its headers are described, and not in the words of the summary', () => {
  const missing = operations.flatMap(({ operationId, summary, responses }) =>
    Object.entries(responses as Readonly<Record<string, Json>>).flatMap(([status, answer]) => [
      ...(isDescribed(answer) && answer['description'] !== summary ? [] : [`${String(operationId)} ${status}`]),
      ...Object.entries((answer['headers'] ?? {}) as Readonly<Record<string, Json>>)
        .filter(([, header]) => !isDescribed(header))
        .map(([name]) => `${String(operationId)} ${status} ${name}`),
    ]),
  )
  expect(missing).toEqual([])
})

test('no schema has a name that was counted', () => {
  expect(Object.keys(components['schemas'] ?? {}).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([])
})
