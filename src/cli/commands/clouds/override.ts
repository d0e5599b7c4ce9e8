import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { packagesFrom } from '../../derive/typed-sets.ts'
import { NONE } from '../../derive/members.ts'
import { CLOUD, PACKAGE } from './arguments.ts'
import { countedPackages, packageTexts } from './package-texts.ts'
import { assertBundled, cloudText, patchCloud, showUnchanged } from './patching.ts'
import { namedCloud, type Cloud } from './reading.ts'

const FLAGS = {
  package: { ...PACKAGE, describe: 'Package that replaces the one of its source, or is added (may be repeated)' },
  clear: { kind: 'switch', describe: 'Take all overrides of the Cloud back' },
} as const satisfies FlagSpecs

export const override = defineCommand({
  description:
    'Overrides lie over the pinned version of the bundle, and stay when the Cloud is promoted. The packages that are named are all of them: an override that is left out ends.',
  args: [CLOUD],
  flags: FLAGS,
  uses: ['connection', 'output', 'confirm'],
  examples: [
    'ctl clouds override eu1 --package oci://registry.example.com/provider-hetzner@v1.4.1',
    'ctl clouds override eu1 --clear',
  ],
  async run(session, { args, flags: { package: named, clear } }) {
    const wanted = wantedOverrides(named, clear === true)
    const cloud = assertBundled(await namedCloud(session, cloudText(args, 'clouds override')))
    const before = overridesOf(cloud)
    const [now, ended] = [wanted, before.filter((text) => !wanted.some((one) => isSameSource(one, text)))]
    if (now.length === 0 && before.length === 0)
      return showUnchanged(session, cloud, `Cloud ${cloud.slug} overrides no package`)
    const done = [
      `Cloud ${cloud.slug} overrides ${countedPackages(now)}.`,
      ...(ended.length > 0 ? [`Overrides that ended: ${ended.join(', ')}.`] : []),
    ].join(' ')
    return patchCloud(session, { cloud, flags: { override: now.length === 0 ? [NONE] : now }, done })
  },
})

/** What was typed, checked before anything is looked up. */
function wantedOverrides(named: readonly string[] | undefined, isClearing: boolean): readonly string[] {
  if (named !== undefined && isClearing) throw usageError('give either --package or --clear')
  if (named === undefined && !isClearing)
    throw usageError('say what to override', 'Give --package SOURCE@VERSION, or --clear to take all overrides back')
  return packageTexts(packagesFrom(named ?? [], '--package'))
}

function overridesOf({ provider_packages: packages }: Cloud): readonly string[] {
  return packageTexts(packages.filter(({ origin }) => origin === 'override'))
}

function isSameSource(one: string, other: string): boolean {
  const sourceOf = (text: string): string => text.slice(0, text.lastIndexOf('@'))
  return sourceOf(one) === sourceOf(other)
}
