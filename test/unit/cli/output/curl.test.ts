import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { curlCommand } from '../../../../src/cli/output/curl.ts'
import { FLEET, ID, TOKEN } from '../../../golden/fleet.ts'
import type { SeenRequest, StubRoutes } from '../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../support/cli/stubbed-cli.ts'

/** Of a request, what two runs of the same command have in common. */
function lasting({ method, path, query, headers, body }: SeenRequest) {
  const { 'x-correlation-id': _id, connection: _connection, ...others } = headers
  return { method, path, query: [...query], headers: others, body }
}

describe('--curl', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
  const { domain } = ID
  const routes: StubRoutes = {
    ...FLEET,
    'PUT /v1/anything': { body: {} },
    'POST /v1/authz/check': { body: { decision: 'allowed', correlation_id: 'c' } },
  }

  /** Runs what was printed as a shell would. */
  async function replay(printed: string): Promise<void> {
    const script = join(cli.home.home, 'printed.sh')
    writeFileSync(script, printed)
    await promisify(execFile)('sh', [script], { env: { PATH: process.env['PATH'], CTL_TOKEN: TOKEN } })
  }

  it.each([
    'nodes list',
    'nodes list --all --reachability stale',
    "nodes list --limit 3 -l site=here -l 'note=it is'",
    `nodes show ${ID.web}`,
    `nodes deregister ${ID.web} --yes`,
    `projects create web --display-name "It's [web] {1} $HOME" --domain ${domain}`,
    `authz check user:${ID.me} read project:${ID.project}`,
    "api '/nodes?name=[a]{b}' -H 'X-Trace: a b' -H 'X-Correlation-Id: mine'",
    'api PUT /anything -F a=1 -F b=@file -H Accept:text/plain',
  ])('prints the request that is sent: %s', async (line) => {
    const { stub, printed } = await printedBy(line)
    expect(stub.seen).toEqual([])
    await cli.home.run(...args(line))
    const called = stub.seen.length
    // A list without rows is followed by questions about its selector.
    const sent = stub.seen.filter(({ path }) => !/\/(whoami|preview)$/.test(path)).map(lasting)
    await replay(printed)
    expect(stub.seen.slice(called).map(lasting)).toEqual(sent)
    expect(sent).toHaveLength(1)
  })

  async function printedBy(line: string) {
    const stub = await cli.serve(routes)
    const { stdout, exitCode } = await cli.home.run(...args(`${line} --curl`))
    expect(exitCode).toBe(0)
    return { stub, printed: stdout }
  }

  function args(line: string): Parameters<typeof cli.home.run> {
    const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, one, two, three]) => one ?? two ?? three ?? '',
    )
    return [words, { env: { CTL_URL: cli.stub?.url ?? '' } }]
  }

  it('keeps every secret out, and names where to put the token', async () => {
    const { printed } = await printedBy("api PUT /anything -F password=hunter2 -H 'Cookie: service_session=abc'")
    expect(printed).toContain('-H "Authorization: Bearer $CTL_TOKEN"')
    expect(printed).not.toMatch(/hunter2|service_session|psk_local/)
  })

  it('presents no token where there is none, and takes the authority and the limit along', async () => {
    await cli.serve(routes)
    const env = { CTL_URL: cli.stub?.url ?? '', CTL_TOKEN: '' }
    const { stdout } = await cli.home.run(['nodes', 'list', '--curl', '--timeout', '5s'], { env })
    expect(stdout).not.toContain('Authorization')
    expect(stdout).toContain('--max-time 5 ')
  })

  it('names the certificate authority', async () => {
    await cli.serve(routes)
    const file = join(cli.home.home, "the authority's.pem")
    writeFileSync(file, '')
    const env = { CTL_URL: cli.stub?.url ?? '' }
    const { stdout } = await cli.home.run(['nodes', 'list', '--curl', '--ca-file', file], { env })
    expect(stdout).toContain(` --cacert '${file.replace("'", "'\\''")}' `)
  })

  it('sets no time limit on a stream, which curl would end there', () => {
    const request = { method: 'GET', path: '/v1/nodes/x/events', headers: {} } as const
    const target = { url: 'http://127.0.0.1:7443', timeoutSeconds: 5 }
    expect(curlCommand({ ...target, streams: true }, request)).not.toContain('--max-time')
    expect(curlCommand(target, request)).toContain('--max-time 5 ')
  })

  it('asks nothing before it prints a change', async () => {
    const { printed } = await printedBy(`nodes deregister ${ID.web}`)
    expect(printed).toContain('-X DELETE ')
  })
})
