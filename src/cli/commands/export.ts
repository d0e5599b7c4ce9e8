import { resolve } from 'node:path'
import { defineCommand } from '../argv/command.ts'
import { usageError } from '../errors/cli-error.ts'
import { placeFlag } from '../derive/places.ts'
import { readSetName } from '../domain-files/folder/read-folder.ts'
import { assertSetFolder, writeFolder } from '../domain-files/folder/write-folder.ts'
import { filesOf } from '../domain-files/export-files.ts'
import { readDomain } from '../domain-files/read-domain.ts'

/** Writes a Domain as files. */
export const exportDomain = defineCommand({
  description: [
    'One YAML file for each object, with names in place of ids. Secrets and tokens are in no file; ctl.yaml names what is left out, and why.',
    'Exported again, the folder changes only where the Domain has: files of objects that are gone are removed.',
  ].join('\n'),
  args: [{ name: 'dir', describe: 'Folder to write; empty, or one that an export has written', required: true }],
  flags: {
    domain: placeFlag('domains'),
    set: { kind: 'text', value: 'NAME', describe: 'Name of the set; that of ctl.yaml, else the slug of the Domain' },
  },
  uses: ['connection'],
  examples: ['ctl export ./domain', 'ctl export ./domain --domain acme && git -C ./domain diff'],
  async run(session, { args: [dir], flags }) {
    if (dir === undefined) throw usageError('<dir> is missing', 'See: ctl export --help')
    const folder = resolve(session.io.cwd, dir)
    await assertSetFolder(folder)
    const world = await readDomain(session)
    const set = flags.set ?? (await readSetName(folder)) ?? world.names.domainSlug
    const files = await filesOf(world, set, session.manifest())
    const { written, unchanged, removed } = await writeFolder(folder, files)
    const rest = removed.length === 0 ? '' : `, ${removed.length} removed`
    session.note(
      `Exported Domain ${world.names.domainSlug} to ${dir}: ${written} files written, ${unchanged} unchanged${rest}.`,
    )
  },
})
