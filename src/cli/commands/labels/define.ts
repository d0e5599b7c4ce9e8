import { ProblemAnswer } from '../../../client/failures.ts'
import { usageError } from '../../errors/cli-error.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { IF_NOT_EXISTS, ifNotExists } from '../../derive/if-not-exists.ts'
import { perform } from '../../derive/perform.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import { makeChanges } from './changing.ts'
import { PLACES, scopeOfKey, typedKey } from './keys.ts'
import { namedDefinition, type Definition } from './reading.ts'
import { DEFINED, DEFINITION, showDefinition } from './showing.ts'
import { DEFINING, plainMembers, saysValues, valueSchema } from './value-flags.ts'

const NEW_KEY = {
  name: 'key',
  describe: 'env for your Domain, platform/env, domain:NAME/env or project:NAME/env',
  required: true,
} as const
const KEY = { name: 'key', describe: 'Key or id of the Definition', noun: 'label-keys', required: true } as const

const EXPECTED = { view: DEFINITION, isList: false }

const DEFINE = { ...DEFINING, ...PLACES, [IF_NOT_EXISTS]: ifNotExists } as const satisfies FlagSpecs

/** Defines a label. */
export const define = defineCommand({
  description: [
    'The scope in front of the key says where the label may be used: platform for everywhere, else one Domain or Project. A bare key is defined in your Domain.',
    'Values are texts unless --type says otherwise.',
  ].join('\n'),
  args: [NEW_KEY],
  flags: DEFINE,
  uses: ['connection', 'curl', 'output', 'confirm'],
  examples: [
    'ctl labels define platform/env --enum prod,staging,dev --on-delete block',
    'ctl labels define tier --pattern "^[a-z]+$" --kinds node --domain acme',
    'ctl labels define project:web/weight --type integer --min 0 --max 100 --inherit',
  ],
  async run(session, { args, flags }) {
    const key = typedKey(argumentOf(args, 'labels define'))
    const schema = valueSchema(flags)
    const scope = await scopeOfKey(session, key)
    const body = { scope, local_key: key.localKey, value_schema: schema, ...plainMembers(flags) }
    const operation = session.operation('CreateLabelDefinition')
    try {
      const answers = await makeChanges(session, {
        operation,
        calls: [{ input: { body }, label: key.text }],
        expected: EXPECTED,
      })
      if (answers === undefined) return
      await showDefinition(session, answers[0] as Definition, DEFINED) // What the contract says of 201.
      session.note(harmless(`Defined ${key.text}.`))
    } catch (error) {
      const isTaken = error instanceof ProblemAnswer && error.code === 'definition_conflict'
      if (!isTaken || flags[IF_NOT_EXISTS] !== true) throw error
      await showDefinition(session, await namedDefinition(session, key.text))
      session.note(harmless(`There is a label ${key.text} already; nothing was changed.`))
    }
  },
})

const REDEFINE = { ...DEFINING, ...PLACES } as const satisfies FlagSpecs

/** Changes a Definition, all but its scope and key. */
export const redefine = defineCommand({
  description: [
    'With --type the value flags say all about the values; without it they change what they name, and the rest stays.',
    'Values that objects have must fit. An immutable Definition stays immutable.',
  ].join('\n'),
  args: [KEY],
  flags: REDEFINE,
  uses: ['connection', 'curl', 'output', 'confirm'],
  examples: [
    'ctl labels redefine platform/env --enum prod,staging,dev,test',
    'ctl labels redefine tier --kinds all --description "Layer of the application"',
  ],
  async run(session, { args, flags }) {
    const text = argumentOf(args, 'labels redefine')
    const members = plainMembers(flags)
    if (Object.keys(members).length === 0 && !saysValues(flags))
      throw usageError('there is nothing to change', 'See what can be: ctl labels redefine --help')
    const found = await namedDefinition(session, text)
    const body = { ...members, ...(saysValues(flags) && { value_schema: valueSchema(flags, found.value_schema) }) }
    const operation = session.operation('UpdateLabelDefinition')
    const calls = [{ input: { id: found.id, body }, label: text }]
    const answers = await makeChanges(session, { operation, calls, expected: EXPECTED })
    if (answers === undefined) return
    await showDefinition(session, answers[0] as Definition, DEFINED) // What the contract says of 200.
    session.note(harmless(`Changed ${text}.`))
  },
})

/** Deletes a Definition. */
export const undefine = defineCommand({
  description: 'What happens to labels that objects have is what its on_delete says: see ctl labels definition KEY.',
  args: [KEY],
  flags: PLACES,
  uses: ['connection', 'curl', 'confirm'],
  asks: true,
  examples: ['ctl labels undefine platform/env', 'ctl labels undefine tier --domain acme --yes'],
  run: (session, given) => undefineIt(session, given),
})

async function undefineIt(session: Session, { args }: Given): Promise<void> {
  const text = argumentOf(args, 'labels undefine')
  const { done: _usual, ...cli } = session.operation('DeleteLabelDefinition').cli ?? { command: 'labels undefine' }
  const operation = { ...session.operation('DeleteLabelDefinition'), cli }
  if (session.shared.curl !== true) await (await import('../../derive/confirm.ts')).assertAnswerable(session, operation)
  const found = await namedDefinition(session, text)
  const object = { id: found.id, label: text, row: found }
  await perform(session, { operation, object }, { args: [found.id], flags: {} })
  if (session.shared.curl !== true) session.note(harmless(`Deleted the Definition of ${text}.`))
}

function argumentOf([text]: readonly string[], words: string): string {
  if (text !== undefined) return text
  throw usageError('<key> is missing', `See: ctl ${words} --help`)
}
