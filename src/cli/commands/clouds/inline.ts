import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { packagesFrom } from '../../derive/typed-sets.ts'
import { CLOUD, PACKAGE } from './arguments.ts'
import { countedPackages, packageTexts } from './package-texts.ts'
import { cloudText, patchCloud, showUnchanged, type CloudChange } from './patching.ts'
import { isBundled, namedCloud, type BundledCloud, type Cloud } from './reading.ts'

const FLAGS = {
  package: { ...PACKAGE, describe: 'Package of the Cloud; those that it has when absent (may be repeated)' },
  'config-api-version': {
    kind: 'text',
    value: 'VERSION',
    describe: 'API version of its provider configuration; the one that it has when absent',
  },
} as const satisfies FlagSpecs

interface Wanted {
  readonly packages: readonly string[] | undefined
  readonly apiVersion: string | undefined
}

export const inline = defineCommand({
  description:
    'The Cloud leaves its bundle, and its overrides become packages like the others. Without --package it keeps the packages that it has now, so that nothing changes but where they come from.',
  args: [CLOUD],
  flags: FLAGS,
  uses: ['connection', 'output', 'confirm'],
  examples: [
    'ctl clouds inline eu1',
    'ctl clouds inline eu1 --package oci://registry.example.com/provider-hetzner@v1.4.1 --config-api-version v1beta1',
  ],
  async run(session, { args, flags: { package: named, 'config-api-version': apiVersion } }) {
    const packages = named && packageTexts(packagesFrom(named, '--package'))
    const cloud = await namedCloud(session, cloudText(args, 'clouds inline'))
    const wanted = { packages, apiVersion }
    if (isBundled(cloud)) return patchCloud(session, leaving(cloud, wanted))
    if (packages === undefined && apiVersion === undefined)
      return showUnchanged(session, cloud, `Cloud ${cloud.slug} has packages of its own already`)
    return patchCloud(session, changing(cloud, wanted))
  },
})

/** A Cloud with a bundle needs both members at once. */
function leaving(cloud: BundledCloud, wanted: Wanted): CloudChange {
  const packages = wanted.packages ?? packageTexts(cloud.provider_packages)
  const apiVersion = wanted.apiVersion ?? cloud.provider_config_api_version
  const kept = [
    ...(wanted.packages === undefined ? ['its packages'] : []),
    ...(wanted.apiVersion === undefined ? [`API version ${apiVersion}`] : []),
  ]
  const from = `version ${cloud.provider_bundle_version} of ${cloud.provider_bundle_slug}`
  const done = [
    `Cloud ${cloud.slug} left ${from} and has ${countedPackages(packages)}.`,
    ...(kept.length > 0 ? [`It kept ${kept.join(' and ')}.`] : []),
  ].join(' ')
  return { cloud, flags: { package: packages, 'config-api-version': apiVersion }, done }
}

function changing(cloud: Cloud, { packages, apiVersion }: Wanted): CloudChange {
  return {
    cloud,
    flags: {
      ...(packages !== undefined && { package: packages }),
      ...(apiVersion !== undefined && { 'config-api-version': apiVersion }),
    },
    done: `Cloud ${cloud.slug} has packages of its own as before, with the changes.`,
  }
}
