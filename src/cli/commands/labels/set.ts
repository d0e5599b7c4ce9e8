import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { harmless } from '../../output/style.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { makeChanges, type NamedCall } from './changing.ts'
import { assertChangeable, assertFits, withKey, type Wanted } from './checks.ts'
import { PLACES, scopeNamed, typedKey } from './keys.ts'
import { OBJECT, objectNamed, scopeOfObject, type LabelledObject } from './objects.ts'
import { nearestOf, readDefinitions, readLabels, refuseUnknown, type Definition, type Label } from './reading.ts'
import { LABEL, LABELS_SET, showLabels } from './showing.ts'
import { labelValue } from './value-flags.ts'

/** Gives an object labels. */
export const set = defineCommand({
  description: [
    'A bare key is the nearest one defined for the object: in its Project, else its Domain, else on the platform. Values become integers or booleans where the Definition has that type.',
    'Every key and value is checked before the first label is set.',
  ].join('\n'),
  args: [OBJECT, { name: 'label', describe: 'KEY=VALUE', noun: 'label-values', many: true, required: true }],
  flags: PLACES,
  uses: ['connection', 'curl', 'output', 'confirm'],
  examples: ['ctl labels set node:web-1 env=prod tier=web', 'ctl labels set project:web platform/env=prod'],
  async run(session, { args: [text, ...pairs] }) {
    if (text === undefined || pairs.length === 0) throw usageError('<label> is missing', 'See: ctl labels set --help')
    const typed = pairs.map(pairOf)
    const object = await objectNamed(session, text)
    const operation = session.operation('PutObjectLabel')
    const calls = await callsFor(session, object, typed)
    const expected = { view: LABEL, isList: true }
    const answers = await makeChanges(session, { operation, calls, expected, failure: withKey })
    if (answers === undefined) return
    await showLabels(session, answers as readonly Label[], LABELS_SET) // What the contract says of 200.
    session.note(harmless(`Set ${pairs.join(', ')} on ${text}.`))
  },
})

interface Pair {
  readonly key: string
  readonly value: string
}

function pairOf(text: string): Pair {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`a label is key=value, not "${text}"`)
  return { key: text.slice(0, at), value: text.slice(at + 1) }
}

/** Calls with the qualified keys and the values of the right types, all of which their Definitions accept. */
async function callsFor(
  session: Session,
  object: LabelledObject,
  pairs: readonly Pair[],
): Promise<readonly NamedCall[]> {
  const definitions = await readDefinitions(session, await scopeOfObject(session, object), true)
  const wanted: Wanted[] = []
  for (const { key, value } of pairs) {
    const definition = await meant(session, definitions, key)
    wanted.push({ key, definition, value: labelValue(definition.value_schema.type, value, key) })
  }
  await assertFits(wanted, object)
  if (wanted.some(({ definition }) => definition.immutable)) assertChangeable(wanted, await readLabels(session, object))
  return wanted.map(({ key, definition, value }) => ({
    input: { kind: object.kind, id: object.id, body: { qualified_key: definition.qualified_key, value } },
    label: `${key}=${value}`,
    key,
  }))
}

async function meant(session: Session, definitions: readonly Definition[], text: string): Promise<Definition> {
  const { scope, localKey } = typedKey(text)
  if (scope === undefined) return nearestOf(definitions, localKey) ?? refuseUnknown(text, localKey, definitions)
  const qualified = `${await scopeNamed(createResolver(session), scope)}/${localKey}`
  const found = definitions.find(({ qualified_key: key }) => key === qualified)
  return found ?? refuseUnknown(text, localKey, definitions)
}
