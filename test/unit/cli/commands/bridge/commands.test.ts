import { describe, expect, it } from 'vitest'
import { bridgeFleet } from '../../../../golden/bridge-fleet.ts'
import { ID } from '../../../../golden/fleet.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const P = `/v1/projects/${ID.project}/resources`
const EDGE = '019c1a10-0000-7000-8000-0000000b1001'

describe('Commands of a bridge', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x', CTL_COMPLETION_TIMEOUT: '60s' })
  const { routes } = bridgeFleet()
  const edge = {
    id: EDGE,
    domain_id: ID.domain,
    project_id: ID.project,
    kind: 'bridge',
    slug: 'edge-1',
    display_name: 'Edge',
    host_node_ids: [],
    created_at: '2026-01-30T12:00:00.000Z',
    updated_at: '2026-01-30T12:00:00.000Z',
  }
  const only = { ...routes, [`GET ${P}`]: { body: { items: [edge], next_cursor: null } } }
  const none = { ...routes, [`GET ${P}`]: { body: { items: [], next_cursor: null } } }
  const bodies = () => cli.stub?.seen.filter(({ method }) => method !== 'GET').map(({ body }) => body)

  it('take the only bridge of the Project where none is named', async () => {
    const { exitCode, stdout } = await cli.run('bridge ingress list -o name', only)
    expect([exitCode, stdout]).toEqual([0, 'blog\nshop\n'])
  })

  it('say how to make a bridge where the Project has none', async () => {
    const { exitCode, stderr } = await cli.run('bridge ingress list', none)
    expect([exitCode, stderr.split('\n').slice(0, 2)]).toEqual([
      3,
      [
        'error: the Project has no bridge, or you may not see it',
        'Create one: ctl resources create NAME --kind bridge --display-name TEXT --host-node NODE',
      ],
    ])
  })

  it('take a part as "show" prints it, with other values by flags', async () => {
    const shown = await cli.run('bridge ingress show shop -o yaml', only)
    const options = { stdin: shown.stdout }
    const created = await cli.run('bridge ingress create wiki --host wiki.example.org -f -', only, options)
    expect([created.exitCode, bodies()]).toEqual([
      0,
      [
        {
          slug: 'wiki',
          sni_host: 'wiki.example.org',
          target_node_id: ID.db,
          target_port: 8080,
          acme_account_ref: 'https://acme.example.org/directory',
        },
      ],
    ])
  })

  it('send the whole configuration of a part that one flag changes', async () => {
    const { exitCode } = await cli.run('bridge site-to-site update hq --routing-policy egress_only', only)
    expect([exitCode, bodies()]).toEqual([
      0,
      [
        {
          kind: 'wireguard',
          remote_host: 'vpn.example.org',
          remote_port: 51_820,
          auth_secret_ref: 'secret:default/web/hq-key',
          allowed_subnets: ['10.20.0.0/16', '10.21.0.0/16'],
          routing_policy: 'egress_only',
        },
      ],
    ])
  })

  it('claim the port of a relay that is not to be enabled', async () => {
    const { exitCode } = await cli.run('bridge relay set edge-1 --port 51821 --no-enabled', only)
    expect([exitCode, bodies()]).toEqual([0, [{ enabled: false, listen_port: 51_821 }]])
  })

  it('check the parts of what "bridge show" printed', async () => {
    const { stdout } = await cli.run('bridge show edge-1 -o yaml', only)
    const { exitCode } = await cli.run('bridge check edge-1 --file -', only, { stdin: stdout })
    const [body] = bodies() ?? []
    expect([exitCode, Object.keys(body as object)]).toEqual([10, ['relay', 'user_access', 'ingress', 'site_to_site']])
    expect(body).toMatchObject({ relay: { enabled: true, listen_port: 51_821 } })
    expect(JSON.stringify(body)).not.toContain('created_at')
  })
})
