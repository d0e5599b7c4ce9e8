import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pack, run, runWell } from './package-manager.mjs'
import { root } from './root.mjs'

const MIGRATIONS = 'src/server/adapters/postgres/migrations'

const git = async (...args) => (await runWell('git', ['-c', 'safe.directory=*', ...args], { cwd: root })).trim()

/**
 * Finds the version that this one is an upgrade of: the last release by its tag; before the first one, what the newest
 * migration was added to, so that there is a schema to upgrade. `CTL_UPGRADE_BASE` names another commit.
 *
 * @returns `{ commit, words }`
 * @throws Error in a clone without that history
 */
export async function findFormerVersion(env = process.env) {
  const named = env.CTL_UPGRADE_BASE ?? ''
  if (named !== '') return { commit: await git('rev-parse', '--verify', `${named}^{commit}`), words: named }
  const tag = await run(
    'git',
    ['-c', 'safe.directory=*', 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'],
    { cwd: root },
  )
  if (tag.code === 0)
    return { commit: await git('rev-parse', `${tag.stdout.trim()}^{commit}`), words: tag.stdout.trim() }
  const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', MIGRATIONS)
  const commit = await git('rev-parse', '--verify', `${added}^`)
  return { commit, words: `${commit.slice(0, 9)}, before the newest migration` }
}

/** The names of the migrations that a commit has. */
const migrationsAt = async (commit) => (await git('ls-tree', '--name-only', commit, `${MIGRATIONS}/`)).split('\n')

/** Whether a commit lacks a migration of HEAD. */
export async function hasFormerSchema(commit) {
  const former = new Set(await migrationsAt(commit))
  return (await migrationsAt('HEAD')).some((name) => !former.has(name))
}

/**
 * Builds and packs a commit in `folder`, with its own packages.
 *
 * @returns the path of the tarball
 */
export async function packCommit(commit, folder) {
  const checkout = join(folder, 'checkout')
  mkdirSync(checkout, { recursive: true })
  const archive = join(folder, 'checkout.tar')
  await git('archive', '--format=tar', `--output=${archive}`, commit)
  await runWell('tar', ['--extract', '--file', archive, '--directory', checkout])
  await runWell('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: checkout })
  await runWell('npm', ['run', 'build'], { cwd: checkout })
  return pack(checkout, folder)
}
