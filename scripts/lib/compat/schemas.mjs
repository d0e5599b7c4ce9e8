/**
 * Every schema of the two documents, with where it is. Values that only look like schemas, such as examples and defaults, are left out.
 *
 * @returns {{ place: string, schema: object }[]}
 */
export function schemasOf(openapi, events = {}) {
  return [
    ...entriesOf(openapi.components?.schemas).flatMap(([name, schema]) => within(name, schema)),
    ...Object.values(openapi.paths ?? {}).flatMap((item) => Object.values(item).flatMap(ofOperation)),
    ...entriesOf(events.events).flatMap(([type, schema]) => within(`event ${type}`, schema)),
    ...entriesOf(events.webhooks).flatMap(([type, schema]) => within(`webhook ${type}`, schema)),
    ...entriesOf(events.formats).flatMap(([name, { schema }]) => within(`format ${name}`, schema)),
  ]
}

function ofOperation(operation) {
  const { operationId: id, parameters = [], requestBody, responses } = operation ?? {}
  if (id === undefined) return []
  return [
    ...parameters.flatMap((parameter) => ofParameter(id, parameter)),
    ...ofContent(`${id} body`, requestBody?.content),
    ...entriesOf(responses).flatMap(([status, { content, headers }]) => [
      ...ofContent(`${id} ${status}`, content),
      ...entriesOf(headers).flatMap(([name, { schema }]) => within(`${id} ${status} ${name}`, schema)),
    ]),
  ]
}

/** A parameter carries markers itself, and so does its schema. */
function ofParameter(id, parameter) {
  const place = `${id} ${parameter.in} ${parameter.name}`
  return [{ place, schema: parameter }, ...within(place, parameter.schema)]
}

function ofContent(place, content) {
  return entriesOf(content).flatMap(([, { schema }]) => within(place, schema))
}

/** A schema and those inside it. References are followed where the document defines what they name. */
function within(place, schema) {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, items, additionalProperties, not } = schema
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((each) => each ?? [])
  return [
    { place, schema },
    ...entriesOf(properties).flatMap(([name, inner]) => within(`${place}.${name}`, inner)),
    ...within(`${place}[]`, items),
    ...within(`${place}.*`, additionalProperties),
    ...[...alternatives, not].flatMap((inner) => within(place, inner)),
  ]
}

function entriesOf(record) {
  return Object.entries(record ?? {})
}
