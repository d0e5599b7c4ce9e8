import { ProblemAnswer } from '../../../client/failures.ts'
import { CliError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { exitCodeOf } from '../../errors/exit-code.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { Session } from '../../session/session.ts'
import { CLOUD } from './arguments.ts'
import { assertBundled, cloudText, patchCloud, showUnchanged } from './patching.ts'
import { namedCloud, readBundle, type BundledCloud } from './reading.ts'

const FLAGS = {
  to: { kind: 'integer', value: 'VERSION', describe: 'Version of its bundle; the newest one when absent' },
} as const satisfies FlagSpecs

export const promote = defineCommand({
  description: [
    'Nothing moves a Cloud by itself: a new version of its bundle is used once the Cloud is promoted to it. Overrides of the Cloud stay.',
    'An older version is as good: that takes a promotion back. A Cloud that is at the version already is left alone, exit 0.',
    'Several Clouds of one bundle: ctl clouds upgrade.',
  ].join('\n'),
  args: [CLOUD],
  flags: FLAGS,
  uses: ['connection', 'output', 'confirm'],
  examples: ['ctl clouds promote eu1', 'ctl clouds promote eu1 --to 4'],
  async run(session, { args, flags }) {
    const cloud = assertBundled(await namedCloud(session, cloudText(args, 'clouds promote')))
    const { slug, provider_bundle_slug: bundle, provider_bundle_version: from } = cloud
    const to = flags.to ?? (await newestVersion(session, cloud))
    if (to === from) return showUnchanged(session, cloud, `Cloud ${slug} is at version ${to} of ${bundle} already`)
    const done = `Moved Cloud ${slug} from version ${from} to version ${to} of ${bundle}.`
    return patchCloud(session, { cloud, flags: { 'bundle-version': to }, done })
  },
})

/** The latest version of the bundle of a Cloud. Who may move the Cloud need not see its bundle. */
async function newestVersion(session: Session, cloud: BundledCloud): Promise<number> {
  try {
    return (await readBundle(session, cloud.provider_bundle_id)).latest_version
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || error.status !== 403) throw error
    throw new CliError(`the newest version of ${cloud.provider_bundle_slug} is not known: you may not see the bundle`, {
      exitCode: exitCodeOf(error.status),
      code: error.code,
      hints: [`Name the version: ctl clouds promote ${cloud.slug} --to VERSION`],
      cause: error,
    })
  }
}
