import { resolve } from 'node:path'
import { defineCommand } from '../argv/command.ts'
import { usageError } from '../errors/cli-error.ts'
import { placeFlag } from '../derive/places.ts'
import { isSetName, readSetHead } from '../domain-files/folder/read-folder.ts'
import { assertSetFolder, writeFolder } from '../domain-files/folder/write-folder.ts'
import { filesOf } from '../domain-files/export-files.ts'
import { readDomain } from '../domain-files/read-domain.ts'
import { harmless } from '../output/style.ts'

/** Files that are named at most. */
const NAMED_MAX = 20

/** Writes a Domain as files. */
export const exportDomain = defineCommand({
  description: [
    'One YAML file for each object, with names in place of ids. Secrets and tokens are in no file; ctl.yaml names what is left out, and why.',
    'Exported again, the folder changes only where the Domain has. Files of objects that the Domain does not have stay, and are named.',
  ].join('\n'),
  args: [{ name: 'dir', describe: 'Folder to write; empty, or one that an export has written', required: true }],
  flags: {
    domain: placeFlag('domains'),
    set: { kind: 'text', value: 'NAME', describe: 'Name of the set; that of ctl.yaml, else the slug of the Domain' },
    prune: { kind: 'switch', describe: 'Remove the files of objects that the Domain does not have' },
  },
  uses: ['connection'],
  examples: ['ctl export ./domain', 'ctl export ./domain --domain acme && git -C ./domain diff'],
  async run(session, { args: [dir], flags }) {
    if (dir === undefined) throw usageError('<dir> is missing', 'See: ctl export --help')
    assertSetName(flags.set)
    const folder = resolve(session.io.cwd, dir)
    await assertSetFolder(folder)
    const head = await readSetHead(folder)
    const world = await readDomain(session)
    assertSameDomain(head?.domain, world.names.domainSlug, dir)
    const set = flags.set ?? head?.set ?? world.names.domainSlug
    const files = await filesOf(world, set, session.manifest())
    const isPruning = flags.prune === true
    const { written, unchanged, extra } = await writeFolder(folder, files, { isPruning })
    const counts = `${written} files written, ${unchanged} unchanged${extraCount(extra, isPruning)}`
    session.note(`Exported Domain ${world.names.domainSlug} to ${dir}: ${counts}.`)
    for (const line of extraLines(extra, isPruning)) session.note(line)
  },
})

/** @throws CliError */
function assertSetName(name: string | undefined): void {
  if (name !== undefined && !isSetName(name))
    throw usageError('--set must be lower-case letters, digits and hyphens, at most 63, such as web-team')
}

function extraCount(paths: readonly string[], isPruning: boolean): string {
  return paths.length === 0 ? '' : `, ${paths.length} ${isPruning ? 'removed' : 'kept'}`
}

/** The files of two Domains in one folder would be applied together. @throws CliError */
function assertSameDomain(exported: string | undefined, domain: string, dir: string): void {
  if (exported === undefined || exported === domain) return
  throw usageError(
    `${harmless(dir)} has the files of Domain ${harmless(exported)}, and the command would export Domain ${domain}`,
    `For Domain ${harmless(exported)}: --domain ${harmless(exported)}. For Domain ${domain}: name another folder.`,
  )
}

/** Names the files whose objects the Domain does not have. */
function extraLines(paths: readonly string[], isPruning: boolean): readonly string[] {
  if (paths.length === 0) return []
  const head = isPruning
    ? 'Removed, since the Domain does not have their objects:'
    : 'The Domain does not have the objects of these files. "ctl apply" reads them; --prune removes them:'
  const named = paths.slice(0, NAMED_MAX).map((path) => `  ${harmless(path)}`)
  return [head, ...named, ...(paths.length > NAMED_MAX ? [`  and ${paths.length - NAMED_MAX} more`] : [])]
}
