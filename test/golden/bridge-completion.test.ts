import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../support/cli/stubbed-cli.ts'
import { bridgeFleet } from './bridge-fleet.ts'
import { ID } from './fleet.ts'

const P = `/v1/projects/${ID.project}/resources`

describe('The words of commands of a bridge', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x', CTL_COMPLETION_TIMEOUT: '60s' })
  const { routes } = bridgeFleet()
  const edge = {
    id: '019c1a10-0000-7000-8000-0000000b1001',
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

  it.each([
    ['bridge show ed', routes, ['edge-1', 'edge-2']],
    ['bridge relay set ', routes, ['edge-1', 'edge-2']],
    ['bridge ingress list --bridge ', routes, ['edge-1', 'edge-2']],
    ['bridge ingress show --bridge edge-1 s', routes, ['shop']],
    ['bridge ingress show s', routes, []],
    ['bridge site-to-site delete ', only, ['hq', 'lab']],
    ['bridge ingress create x --target d', only, ['db-1']],
  ])('are completed by names: ctl %s', async (line, served, values) => {
    const { url } = await cli.serve(served)
    const { stdout } = await cli.home.run(['__complete', 'fish', `ctl ${line}`], { env: { CTL_URL: url } })
    const offered = stdout.split('\n').flatMap((one) => one.split('\t')[0] ?? '')
    expect(offered.filter((one) => one !== '')).toEqual(values)
  })
})
