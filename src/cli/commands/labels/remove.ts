import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { harmless } from '../../output/style.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { makeChanges } from './changing.ts'
import { withKey } from './checks.ts'
import { PLACES, scopeNamed, typedKey } from './keys.ts'
import { OBJECT, objectNamed } from './objects.ts'
import { readLabels, type Label } from './reading.ts'

/** Takes labels from an object. */
export const remove = defineCommand({
  description:
    'A bare key is the label of that name that the object has. A label that it does not have is no error. Labels that it inherits are removed where they are set.',
  args: [OBJECT, { name: 'key', describe: 'Keys', noun: 'label-keys', many: true, required: true }],
  flags: PLACES,
  uses: ['connection', 'curl', 'confirm'],
  examples: ['ctl labels remove node:web-1 tier', 'ctl labels remove project:web platform/env domain:acme/tier'],
  async run(session, { args: [text, ...keys] }) {
    if (text === undefined || keys.length === 0) throw usageError('<key> is missing', 'See: ctl labels remove --help')
    const object = await objectNamed(session, text)
    const labels = await readLabels(session, object)
    const operation = session.operation('DeleteObjectLabel')
    const calls = []
    for (const key of keys) {
      const qualified = await meant(session, labels, key)
      if (qualified === undefined) session.note(harmless(`${text} has no label ${key} of its own.`))
      else calls.push({ input: { kind: object.kind, id: object.id, qualified_key: qualified }, label: key })
    }
    const answers = await makeChanges(session, { operation, calls, failure: withKey })
    if (answers !== undefined && calls.length > 0)
      session.note(harmless(`Removed ${calls.map(({ label }) => label).join(', ')} from ${text}.`))
  },
})

/** The qualified key of a label that the object has; undefined where it has none such. Throws where a bare key fits several. */
async function meant(session: Session, labels: readonly Label[], text: string): Promise<string | undefined> {
  const { scope, localKey } = typedKey(text)
  const keys = labels.map(({ qualified_key: key }) => key)
  if (scope !== undefined) {
    const qualified = `${await scopeNamed(createResolver(session), scope)}/${localKey}`
    return keys.find((key) => key === qualified)
  }
  const found = keys.filter((key) => key.slice(key.indexOf('/') + 1) === localKey)
  if (found.length < 2) return found[0]
  throw usageError(`"${text}" fits ${found.length} labels; give one of these keys`, ...found.map((key) => `  ${key}`))
}
