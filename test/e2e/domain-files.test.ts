import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync, cpSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../support/cli/cli-run.ts'
import { words } from '../support/cli/transcript.ts'
import { startCountingProxy, type CountingProxy } from '../support/domain-files/counting-proxy.ts'
import { startForge } from '../support/domain-files/forge.ts'
import { recipe, runJob } from '../support/domain-files/recipe.ts'
import { RICH_DOMAIN, SECRET } from '../support/domain-files/rich-domain.ts'
import { startSimulation } from '../support/fleet/simulation.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))

/** A server with a command line that calls it through a proxy. */
interface Plane {
  readonly server: CtlProcess
  readonly proxy: CountingProxy
  readonly home: CliHome
  readonly env: Readonly<Record<string, string>>
  /** Runs a line and expects its exit code; a failure shows what was said. */
  ctl(line: string, exit?: number, stdin?: string): Promise<CliResult>
  /** Lets a node of that name join. */
  join(name: string): Promise<void>
}

async function startPlane(directory: string): Promise<Plane> {
  const tokenFile = join(directory, 'token')
  const server = await startCtl({ args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', tokenFile] })
  const proxy = await startCountingProxy(server.url)
  const env = { CTL_URL: proxy.url, CTL_TOKEN: readFileSync(tokenFile, 'utf8').trim() }
  const home = createCliHome(env)
  async function ctl(line: string, exit = 0, stdin?: string): Promise<CliResult> {
    const result = await home.run(words(`ctl ${line}`), { nowMs: Date.now, ...(stdin !== undefined && { stdin }) })
    expect([line, result.exitCode, result.exitCode === exit ? '' : result.stderr]).toEqual([line, exit, ''])
    return result
  }
  async function joinNode(name: string): Promise<void> {
    // One that stays: an ephemeral node is in no file, and leaves while a slow machine is at it.
    const joinToken = join(directory, 'join-token')
    writeFileSync(joinToken, (await ctl('join-tokens create -o json --jq .token')).stdout, { mode: 0o600 })
    const size = ['--nodes', '1', '--duration', '1s', '--edges', '0', '--join-token-file', joinToken]
    const args = [...size, '--state-dir', join(directory, 'fleet')]
    const { exitCode, stderr } = await startSimulation(env, args).ended
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
    const { stdout } = await ctl('nodes list -o name')
    await ctl(`nodes update ${stdout.trim()} --name ${name}`)
  }
  return { server, proxy, home, env, ctl, join: joinNode }
}

/** The texts of all files of a folder by path, hidden ones included. */
function textsOf(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).toSorted()
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}

/** Applies files in a process of its own, which is killed once the server has carried out so many writes. */
async function killedApply({ proxy, env }: Plane, folder: string, writes: number): Promise<unknown> {
  const child = spawn(process.execPath, [CTL, 'apply', folder, '--yes'], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  })
  const from = proxy.writes.length
  proxy.afterWrite = (count) => void (count - from === writes && child.kill('SIGKILL'))
  const [, signal] = await once(child, 'exit')
  proxy.afterWrite = () => undefined
  return signal
}

describe('A Domain as files', () => {
  let directory: string
  let rich: Plane
  let empty: Plane
  let files: string

  /** A copy of the exported files to change. */
  function copied(name: string, changes: Readonly<Record<string, string>> = {}): string {
    const folder = join(directory, name)
    cpSync(files, folder, { recursive: true })
    for (const [path, text] of Object.entries(changes)) writeFileSync(join(folder, path), text)
    return folder
  }

  const edited = (path: string, from: string, to: string): Readonly<Record<string, string>> => {
    const text = readFileSync(join(files, path), 'utf8')
    expect(text).toContain(from)
    return { [path]: text.replace(from, to) }
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-e2e-files-'))
    files = join(directory, 'files')
    ;[rich, empty] = await Promise.all([
      startPlane(mkdtempSync(join(directory, 'rich-'))),
      startPlane(mkdtempSync(join(directory, 'empty-'))),
    ])
    for (const { ctl } of [rich, empty])
      for (const login of ['ann', 'ben']) await ctl(`admin users add ${login} --display-name ${login} --domain default`)
    await rich.join('web-1')
    for (const line of RICH_DOMAIN) await rich.ctl(line, 0, SECRET)
  }, 240_000)
  afterAll(async () => {
    for (const { home, proxy, server } of [rich, empty]) {
      home.remove()
      proxy.close()
      await server.end('SIGTERM')
    }
    rmSync(directory, { recursive: true })
  })

  it('is the same text when it is exported again, has no secret value, and shows no difference', async () => {
    await rich.ctl(`export ${files}`)
    const texts = textsOf(files)
    expect(Object.keys(texts)).toEqual(
      expect.arrayContaining(['ctl.yaml', 'groups/oncall.yaml', 'policies/db-in.yaml', 'resources/web/edge-1.yaml']),
    )
    expect(JSON.stringify(texts)).not.toContain(SECRET)
    expect(texts['ctl.yaml']).toMatch(/^ {2}roles on single nodes: .*\n(?:.*\n)* {2}user-access peers: /m)
    await rich.ctl(`export ${join(directory, 'again')}`)
    expect(textsOf(join(directory, 'again'))).toEqual(texts)
    const { stdout } = await rich.ctl(`diff ${files} -o json`)
    expect(JSON.parse(stdout)).toMatchObject({ steps: [], waits: [] })
  }, 120_000)

  it('is not exported over the files of another Domain, nor under a name that no set may have', async () => {
    const theirs = copied('theirs', edited('ctl.yaml', 'domain: default', 'domain: acme'))
    const before = textsOf(theirs)
    const refused = await rich.ctl(`export ${theirs} --prune`, 2)
    expect(refused.stderr).toContain('has the files of Domain acme, and the command would export Domain default')
    expect(textsOf(theirs)).toEqual(before)
    expect((await rich.ctl(`export ${theirs} --set My_Set`, 2)).stderr).toContain('--set must be lower-case letters')
  })

  it('is rebuilt on an empty server, also where the rebuilding is killed again and again', async () => {
    for (const writes of [1, 4, 9]) expect(await killedApply(empty, files, writes)).toBe('SIGKILL')
    const { stderr } = await empty.ctl(`apply ${files} --yes`, 10)
    expect(stderr).toContain('Applied ')
    await empty.ctl('secrets put staff-key --project web --value-file -', 0, SECRET)
    await empty.join('web-1')
    await empty.ctl(`apply ${files} --yes`)
    await empty.ctl(`diff ${files}`)
    await empty.ctl(`export ${join(directory, 'rebuilt')}`)
    expect(textsOf(join(directory, 'rebuilt'))).toEqual(textsOf(files))
  }, 240_000)

  it('has the mark of its set on each object that was created, also where the creation was the last call before a kill', async () => {
    const nothing = join(directory, 'nothing')
    mkdirSync(nothing)
    writeFileSync(join(nothing, 'ctl.yaml'), 'format: 1\nset: default\n')
    const { stdout } = await empty.ctl(`diff ${nothing} -o json`)
    const { unnamed } = JSON.parse(stdout) as {
      readonly unnamed: readonly { readonly kind: string; readonly name: string }[]
    }
    expect(unnamed.filter(({ kind }) => kind !== 'grants').map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'project data',
      'project web',
      'resource data/lan',
      'resource web/edge-1',
      'service-identity robot',
      'service-identity deployer',
      'group oncall',
      'group staff',
    ])
    // Roles of people belong to no set.
    expect(
      unnamed
        .filter(({ kind }) => kind === 'grants')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['group:oncall', 'group:staff', 'service:deployer'])
  }, 180_000)

  it('replaces a role whose caveat a file changes, and leaves no other one beside it', async () => {
    const roles = async (): Promise<readonly unknown[]> => {
      const { stdout } = await empty.ctl('tuples list --project data -o json')
      const { items } = JSON.parse(stdout) as { readonly items: readonly Readonly<Record<string, unknown>>[] }
      return items
        .filter(({ resource }) => String(resource).startsWith('project:'))
        .map((tuple) => tuple['caveat_context'])
    }
    const folder = copied('caveat', edited('grants/group.staff.yaml', 'within_hours', 'from_network'))
    const { stdout } = await empty.ctl(`diff ${folder}`, 10)
    expect(stdout).toContain('(replaced: the old role ends first)')
    await empty.ctl(`apply ${folder} --yes`)
    expect(await roles()).toEqual([{ caveat_name: 'from_network' }])
    await empty.ctl(`diff ${folder}`)
    await empty.ctl(`apply ${files} --yes`)
    expect(await roles()).toEqual([{ caveat_name: 'within_hours' }])
  }, 180_000)

  it('takes one write for one change, and none where nothing changes', async () => {
    const folder = copied('one', edited('groups/oncall.yaml', 'On-call', 'Night shift'))
    const { stdout } = await rich.ctl(`diff ${folder} -o json`, 10)
    expect(JSON.parse(stdout).steps).toMatchObject([
      { action: 'change', kind: 'group', name: 'oncall', changes: [{ from: 'On-call', to: 'Night shift' }] },
    ])
    const before = rich.proxy.writes.length
    await rich.ctl(`apply ${folder} --yes`)
    expect(rich.proxy.writes.slice(before)).toEqual([expect.stringMatching(/^PATCH \/v1\/domains\/[^/]+\/groups\//)])
    await rich.ctl(`apply ${folder} --yes`)
    expect(rich.proxy.writes.length).toBe(before + 1)
    await rich.ctl(`apply ${files} --yes`)
  }, 120_000)

  it('is not changed by a saved plan where an object has changed since', async () => {
    const folder = copied('planned', edited('projects/data.yaml', '#1', '#2'))
    const plan = join(directory, 'plan.json')
    await rich.ctl(`diff ${folder} --save-plan ${plan}`, 10)
    await rich.ctl('projects update data --display-name Other')
    const before = rich.proxy.writes.length
    const { stderr } = await rich.ctl(`apply ${folder} --plan ${plan} --yes`, 6)
    expect(stderr).toMatch(/an object has changed since the plan was made[^]*project data/)
    expect(rich.proxy.writes.length).toBe(before)
    await rich.ctl('projects update data --display-name "Data: #1"')
    await rich.ctl(`apply ${folder} --plan ${plan} --yes`)
    await rich.ctl(`diff ${folder}`)
    await rich.ctl(`apply ${files} --yes`)
  }, 120_000)

  it('loses nothing in the first run of a set with --prune', async () => {
    const folder = copied('first')
    rmSync(join(folder, 'groups/staff.yaml'))
    const { stdout, stderr } = await rich.ctl(`diff ${folder} --prune -o json`)
    expect([JSON.parse(stdout).steps, stderr]).toEqual([[], expect.stringContaining('its first run removes nothing')])
  }, 180_000)

  it('loses with --prune what the set has created and no file names, at most ten objects without more, and nothing else', async () => {
    const text = 'kind: group\nname: NAME\ndisplay_name: Temporary\n'
    const names = Array.from({ length: 11 }, (_, at) => `temporary-${at}`)
    const more = names.map((name) => [`groups/${name}.yaml`, text.replace('NAME', name)] as const)
    await empty.ctl(`apply ${copied('more', Object.fromEntries(more))} --yes`)
    await empty.ctl('groups create by-hand --display-name Hand')
    await empty.ctl(`diff ${files}`)
    const { stderr } = await empty.ctl(`apply ${files} --prune --yes`, 6)
    expect(stderr).toContain('--prune would remove 11 objects, and at most 10 are allowed')
    await empty.ctl(`apply ${files} --prune --prune-max 11 --yes`)
    const { stdout } = await empty.ctl('groups list -o name')
    expect(
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .toSorted(),
    ).toEqual(['by-hand', 'oncall', 'staff'])
  }, 120_000)

  it('belongs to another set where that adopts it, and loses what a file calls absent', async () => {
    const folder = join(directory, 'adopted')
    await empty.ctl(`export ${folder} --set other`)
    expect(readFileSync(join(folder, 'ctl.yaml'), 'utf8')).toContain('\nset: other\n')
    await empty.ctl(`apply ${folder} --adopt --yes`)
    rmSync(join(folder, 'groups/by-hand.yaml'))
    writeFileSync(join(folder, 'policies/heavy.yaml'), 'kind: policy\nname: heavy\nabsent: true\n')
    await empty.ctl(`apply ${folder} --prune --yes`)
    const groups = await empty.ctl('groups list -o name')
    const policies = await empty.ctl('policies list -o name')
    expect([groups.stdout, policies.stdout]).toEqual(['oncall\nstaff\n', 'db-in\n'])
  }, 120_000)

  it.each([
    [
      'an unknown member',
      'kind: group\nname: ops\ndisplay_name: Ops\nmembrs: []\n',
      'x.yaml:4:1: "membrs" is not known here; did you mean members?',
    ],
    ['an unknown kind', 'kind: grup\nname: ops\n', 'x.yaml:1:1: "grup" is no kind of a file; did you mean group?'],
    ['a value of another type', 'kind: group\nname: ops\ndisplay_name: 7\n', 'x.yaml:3:1: expected text'],
    ['broken text', 'kind: [\n', 'x.yaml:2:1: '],
    [
      'an alias',
      'kind: group\nname: ops\ndisplay_name: &a A\nmembers: [*a]\n',
      'x.yaml:4:11: an alias; write the value itself',
    ],
    ['a second document', 'kind: group\n---\nkind: group\n', 'x.yaml:2:1: a second document'],
    [
      'a second file for one object',
      'kind: group\nname: oncall\ndisplay_name: A\n',
      'group oncall is in groups/oncall.yaml too',
    ],
    ['no text', '', 'x.yaml:1:1: '],
  ])(
    'is refused with the place of %s',
    async (_what, text, said) => {
      const folder = copied(`bad-${String(Math.abs(text.length))}-${said.length}`, { 'x.yaml': text })
      const { stderr } = await rich.ctl(`apply ${folder} --yes`, 9)
      expect(stderr).toContain(said)
    },
    60_000,
  )

  it('has no file that a link shows elsewhere', async () => {
    const folder = copied('linked')
    symlinkSync(join(rich.home.home, '..'), join(folder, 'groups/out'))
    const { stderr } = await rich.ctl(`diff ${folder}`, 2)
    expect(stderr).toMatch(/groups\/out is a link out of /)
  }, 180_000)

  it('waits for approval where the approval policy asks for it, and asks once', async () => {
    await rich.ctl('approvals policy set --require policies.write=1')
    const folder = copied('held', edited('policies/db-in.yaml', '5432', '5433'))
    rmSync(join(folder, 'approval-policy.yaml'))
    const { stdout } = await rich.ctl(`diff ${folder} -o json`, 10)
    expect(JSON.parse(stdout).steps).toMatchObject([{ held: { action: 'policies.write', approvals: 1 } }])
    const { stderr } = await rich.ctl(`apply ${folder} --yes`, 10)
    expect(stderr).toMatch(/policy db-in waits for approval: ctl approvals show \S+/)
    const again = await rich.ctl(`apply ${folder} --yes`, 10)
    expect(again.stderr).toContain('policy db-in waits for approval: a request for it waits already')
    const { stdout: approvals } = await rich.ctl('approvals list -o json')
    expect(JSON.parse(approvals).items).toHaveLength(1)
  }, 120_000)

  it('is planned on a pull request and applied on a merge by the recipe for CI', async () => {
    const audience = recipe.env['CTL_AUDIENCE'] ?? ''
    await rich.ctl('service-identities create ci --display-name CI')
    for (const role of ['admin', 'auditor']) await rich.ctl(`grants create service:ci ${role} domain:default`)
    const { stdout: token } = await rich.ctl('tokens issue ci --for service:ci -o json --jq .token')
    const guide = readFileSync(new URL('../../examples/ci/README.md', import.meta.url), 'utf8')
    const scopes = /--scopes (\S+)/.exec(guide)?.[1] ?? ''
    const { stdout: reading } = await rich.ctl(
      `tokens issue plan --for service:ci --scopes ${scopes} -o json --jq .token`,
    )
    const forge = await startForge({ token: token.trim(), audience })
    try {
      const folder = copied('recipe', {
        ...edited('groups/oncall.yaml', 'On-call', 'Night shift'),
        ...edited('policies/db-in.yaml', '5432', '5434'),
      })
      rmSync(join(folder, 'approval-policy.yaml'))
      const shim = join(directory, 'bin')
      mkdirSync(shim)
      writeFileSync(join(shim, 'ctl'), `#!/bin/sh\nexec '${process.execPath}' '${CTL}' "$@"\n`, { mode: 0o755 })
      const env = {
        PATH: `${shim}:${process.env['PATH'] ?? ''}`,
        HOME: directory,
        CTL_URL: rich.proxy.url,
        DOMAIN_FILES: folder,
        ACTIONS_ID_TOKEN_REQUEST_URL: `${forge.url}/token?api-version=2`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
        GITHUB_API_URL: forge.url,
        GITHUB_REPOSITORY: 'acme/web',
      }
      const expressions = {
        'github.token': 'of-the-job',
        'github.event.pull_request.number': '7',
        'secrets.CTL_PLAN_TOKEN': '',
      }
      const job = { env, expressions }
      const writes = (): number => rich.proxy.writes.length
      const before = writes()

      const readOnly = { env, expressions: { ...expressions, 'secrets.CTL_PLAN_TOKEN': reading.trim() } }
      expect(await runJob('plan', readOnly)).toMatchObject({ exitCode: 0 })
      const [planned] = forge.comments
      expect(await runJob('plan', job)).toMatchObject({ exitCode: 0 })
      expect(forge.comments).toEqual([planned])
      expect(forge.comments).toEqual([expect.stringContaining('A merge changes the Domain:')])
      expect(forge.comments[0]).toMatch(/^~ group oncall$/m)
      expect(forge.comments[0]).toMatch(/^~ policy db-in {2}waits for 1 approval \(policies\.write\)$/m)
      writeFileSync(join(folder, 'broken.yaml'), 'kind: group\nname: ops\ndisplay_name: 7\n')
      expect(await runJob('plan', job)).toMatchObject({ exitCode: 9 })
      expect(forge.comments).toEqual([expect.stringMatching(/There is no plan[^]*broken\.yaml:3:1: expected text/)])
      expect(writes()).toBe(before)

      rmSync(join(folder, 'broken.yaml'))
      const merged = await runJob('apply', job)
      expect(merged).toMatchObject({ exitCode: 0, output: expect.stringContaining('::warning::Something waits') })
      expect(rich.proxy.writes.slice(before)).toEqual([
        expect.stringMatching(/^PATCH .*\/groups\//),
        expect.stringMatching(/^PATCH .*\/policies\//),
      ])
      rmSync(join(folder, 'policies/db-in.yaml'))
      const after = writes()
      expect(await runJob('apply', job)).toMatchObject({
        exitCode: 0,
        output: expect.not.stringContaining('::warning'),
      })
      expect(writes()).toBe(after)
      expect(await runJob('plan', job)).toMatchObject({ exitCode: 0 })
      expect(forge.comments).toEqual([expect.stringContaining('The Domain is as the files say.')])

      await rich.ctl('service-identities disable ci --yes')
      expect(await runJob('apply', job)).toMatchObject({ exitCode: 4 })
      expect(await runJob('plan', job)).toMatchObject({ exitCode: 4 })
      expect(forge.comments).toEqual([expect.stringContaining('There is no plan')])
    } finally {
      forge.close()
    }
  }, 240_000)

  it('has in the recipe for CI the package that is published', () => {
    const { name } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly name: string
    }
    const installs = Object.values(recipe.jobs).map(({ steps }) => steps.find((step) => step.name === 'Install')?.run)
    expect(installs).toEqual([`npm install --global ${name}`, `npm install --global ${name}`])
  })
})
