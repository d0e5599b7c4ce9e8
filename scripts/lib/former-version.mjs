import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pack, run, runWell } from './package-manager.mjs'
import { root } from './root.mjs'

const MIGRATIONS = 'src/server/adapters/postgres/migrations'
/** How many commits that added a migration are looked at, and how many of their parents are built at most. */
const [CANDIDATES_MAX, BUILDS_MAX] = [12, 3]

const git = async (...args) => (await runWell('git', ['-c', 'safe.directory=*', ...args], { cwd: root })).trim()

/** Whether the checkout is a shallow clone, and no commit is named. */
export async function isWithoutHistory(env = process.env) {
  return (env.CTL_UPGRADE_BASE ?? '') === '' && (await git('rev-parse', '--is-shallow-repository')) === 'true'
}

/**
 * Finds the commits that this version can be an upgrade of, the first choice first. It is the last release by its tag; before
 * the first release, the parents of the commits that added migrations, so that there is a schema to upgrade. Parents that lack
 * an earlier migration of this version are left out: commits that were rebased can have a later one before it, and no server
 * takes such a schema. `CTL_UPGRADE_BASE` names another commit.
 *
 * @returns `{ commit, words }[]`, not empty
 * @throws Error in a clone without that history
 */
export async function formerVersions(env = process.env) {
  const named = env.CTL_UPGRADE_BASE ?? ''
  if (named !== '') return [{ commit: await git('rev-parse', '--verify', `${named}^{commit}`), words: named }]
  const tag = await run(
    'git',
    ['-c', 'safe.directory=*', 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'],
    { cwd: root },
  )
  if (tag.code === 0)
    return [{ commit: await git('rev-parse', `${tag.stdout.trim()}^{commit}`), words: tag.stdout.trim() }]
  const added = ['log', '-m', '--first-parent', '--diff-filter=A', `--max-count=${CANDIDATES_MAX}`, '--format=%P']
  const parents = await git(...added, '--', MIGRATIONS)
  const found = parents.split('\n').flatMap((line) => line.split(' ', 1).filter(Boolean))
  const migrations = await migrationsAt('HEAD')
  const fitting = []
  for (const commit of found) {
    const former = await migrationsAt(commit)
    if (former.every((name, index) => name === migrations[index])) fitting.push(commit)
  }
  if (fitting.length === 0)
    throw new Error(
      'this clone lacks the history of the migrations: run git fetch --unshallow, or name a commit in CTL_UPGRADE_BASE',
    )
  return fitting.slice(0, BUILDS_MAX).map((commit) => ({ commit, words: `${commit.slice(0, 9)}, before a migration` }))
}

/** The names of the migrations that a commit has. */
const migrationsAt = async (commit) => (await git('ls-tree', '--name-only', commit, `${MIGRATIONS}/`)).split('\n')

/** Whether a commit lacks a migration of HEAD. */
export async function hasFormerSchema(commit) {
  const former = new Set(await migrationsAt(commit))
  return (await migrationsAt('HEAD')).some((name) => !former.has(name))
}

/**
 * Builds and packs the first of these versions that compiles, each in a folder of its own below `folder`.
 *
 * @returns `{ commit, words, tarball }`
 * @throws Error with the last failure when none compiles
 */
export async function packFirst(versions, folder) {
  const checkouts = [root]
  let failure
  for (const { commit, words } of versions) {
    const checkout = join(folder, commit)
    await extract(commit, checkout)
    await installPackages(checkout, checkouts)
    checkouts.push(checkout)
    const { code, stdout, stderr } = await run('npm', ['run', 'build'], { cwd: checkout })
    if (code === 0) return { commit, words, tarball: await pack(checkout, folder) }
    failure = `${words}: npm run build ended with ${code}: ${stdout}${stderr}`
  }
  throw new Error(failure)
}

async function extract(commit, checkout) {
  mkdirSync(checkout, { recursive: true })
  const archive = `${checkout}.tar`
  await git('archive', '--format=tar', `--output=${archive}`, commit)
  await runWell('tar', ['--extract', '--file', archive, '--directory', checkout])
}

/** Installs what the checkout's lock names; an earlier checkout with that lock has it already. */
async function installPackages(checkout, earlier) {
  const lockOf = (path) => readFileSync(join(path, 'package-lock.json'), 'utf8')
  const same = earlier.find((path) => lockOf(path) === lockOf(checkout))
  if (same !== undefined) symlinkSync(join(same, 'node_modules'), join(checkout, 'node_modules'))
  else await runWell('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: checkout })
}
