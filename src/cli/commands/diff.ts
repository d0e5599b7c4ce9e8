import { resolve } from 'node:path'
import { defineCommand } from '../argv/command.ts'
import { placeFlag } from '../derive/places.ts'
import { comparingOf, prepare } from '../domain-files/prepare.ts'
import { emitPlan } from '../domain-files/emit-plan.ts'
import { writeWhole } from '../domain-files/folder/write-whole.ts'
import { EXIT } from '../errors/exit-code.ts'
import { usageError } from '../errors/cli-error.ts'

/** Compares files with a Domain. */
export const diff = defineCommand({
  description: [
    'Shows what "ctl apply" would create, change and remove, what will wait for approval, and what is not there yet.',
    'Exits with 0 where nothing would change, and with 10 where something would.',
  ].join('\n'),
  args: [{ name: 'dir', describe: 'Folder with the files', required: true }],
  flags: {
    domain: placeFlag('domains'),
    'save-plan': {
      kind: 'text',
      value: 'FILE',
      describe: 'Save the plan: "ctl apply --plan FILE" does exactly this or nothing',
    },
    prune: { kind: 'switch', describe: 'Remove what the set has created and no file names' },
    'prune-max': { kind: 'integer', value: 'N', describe: 'Remove at most so many objects', fallback: '10' },
    adopt: { kind: 'switch', describe: 'Mark objects that the files name as those of the set' },
  },
  uses: ['connection', 'output'],
  examples: ['ctl diff ./domain', 'ctl diff ./domain --save-plan plan.json', 'ctl diff ./domain -o json --jq .steps'],
  async run(session, { args: [dir], flags }) {
    if (dir === undefined) throw usageError('<dir> is missing', 'See: ctl diff --help')
    const prepared = await prepare(session, dir, comparingOf(flags))
    const { plan } = prepared
    const path = flags['save-plan']
    if (path !== undefined) await writeWhole(resolve(session.io.cwd, path), `${JSON.stringify(plan, null, 2)}\n`)
    await emitPlan(session, prepared)
    return plan.steps.length + plan.waits.length === 0 ? EXIT.ok : EXIT.negative
  },
})
