import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { perform } from '../../derive/perform.ts'
import { isText } from '../../output/screen.ts'
import { rowsOf } from '../../output/members.ts'
import { PLACES } from './keys.ts'
import { OBJECT, objectNamed } from './objects.ts'
import type { Label } from './reading.ts'
import { showEffective, showLabels } from './showing.ts'

const FLAGS = {
  effective: {
    kind: 'switch',
    describe: 'What selectors see: also labels that it inherits, without those whose Definition is gone',
  },
  ...PLACES,
} as const satisfies FlagSpecs

/** Lists the labels of an object. */
export const list = defineCommand({
  args: [OBJECT],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'watch'],
  examples: [
    'ctl labels list node:web-1',
    'ctl labels list node:web-1 --effective',
    'ctl labels list group:ops -o json',
  ],
  async run(session, { args: [text], flags }) {
    if (text === undefined) throw usageError('<object> is missing', 'See: ctl labels list --help')
    const operation = session.operation('ListObjectLabels')
    const { kind, id } = await objectNamed(session, text)
    const input = { kind, id, ...(flags.effective === true && { view: 'effective' }) }
    if (session.shared.curl === true || !(await isText(session)))
      return perform(session, { operation }, { args: [], flags: input })
    const { value } = await (await session.caller()).call(operation, input)
    const labels = (rowsOf(value) ?? []) as readonly Label[] // What the contract says of 200.
    if (flags.effective === true) await showEffective(session, labels, `${kind}:${id}`)
    else await showLabels(session, labels)
    if (labels.length === 0) session.note('Nothing to list.')
  },
})
