import { describe, expect, it } from 'vitest'
import { createCliHome, type CliOptions } from '../support/cli/cli-run.ts'
import { rotatingFleet, waitingClock, type RotatingFleet } from '../support/fleet/rotating-fleet.ts'
import { LENT } from '../support/fleet/lending-fleet.ts'
import { catalogueFleet } from '../support/fleet/catalogue-fleet.ts'
import { startStub, type StubRoutes } from '../support/cli/stub-server.ts'
import { releasesFleet } from './releases-fleet.ts'
import { bridgeFleet } from './bridge-fleet.ts'
import { rolloutsFleet } from './rollouts-fleet.ts'
import { capacityFleet } from './capacity-fleet.ts'
import { webhooksFleet } from './webhooks-fleet.ts'
import { expectGolden, transcriptOf, words, type Step } from '../support/cli/transcript.ts'

interface Scripted extends Pick<CliOptions, 'answers' | 'stdin' | 'interrupted'> {
  readonly line: string
  readonly exit: number
  /** Only on a terminal, or only off it; both when absent. */
  readonly only?: 'tty' | 'pipe'
}

interface Script {
  readonly fleet: () => { readonly routes: StubRoutes }
  readonly lines: readonly Scripted[]
}

/** Six nodes: one that relays, one that nobody hears of, one that never reported. */
const sixNodes = (): RotatingFleet =>
  rotatingFleet(['relay-1', 'web-1', 'web-2', 'db-1', 'lost-1', 'new-1'], (fleet) => {
    Object.assign(fleet.node('lost-1'), {
      reachability: 'unreachable',
      endpoint: null,
      last_heartbeat_at: '2026-01-20T12:00:00.000Z',
    })
    Object.assign(fleet.node('new-1'), {
      reachability: 'never_reported',
      endpoint: null,
      last_heartbeat_at: null,
      created_at: '2026-02-01T11:00:00.000Z',
    })
    Object.assign(fleet.node('web-1'), { labels: { tier: 'edge' } })
    Object.assign(fleet.node('web-2'), { labels: { tier: 'edge' }, endpoint: null })
  })

const SCRIPTS: Readonly<Record<string, Script>> = {
  capacity: {
    fleet: capacityFleet,
    lines: [
      { line: 'ctl capacity show default', exit: 10 },
      { line: 'ctl capacity show lab', exit: 8 },
      { line: 'ctl capacity show', exit: 10 },
      { line: 'ctl capacity show default --jq .dimensions[0].days_until_full', exit: 10 },
      { line: 'ctl capacity show lab', exit: 0 },
      { line: 'ctl capacity show default lab --columns domain,dimension,used', exit: 10 },
      { line: 'ctl capacity show nowhere', exit: 3 },
      { line: 'ctl capacity history default --dimension nodes --since 30d', exit: 0, only: 'tty' },
      { line: 'ctl capacity history default --dimension observability_ingest', exit: 0 },
      { line: 'ctl capacity history default --dimension sse_fanout', exit: 0 },
      { line: 'ctl capacity history default --dimension observability_ingest --svg -', exit: 0, only: 'pipe' },
      { line: 'ctl capacity history default --dimension sse_fanout --svg -', exit: 10 },
      { line: 'ctl capacity history default --dimension nodes --svg - -o json', exit: 2 },
      { line: 'ctl capacity history default --dimension nods', exit: 2 },
      { line: 'ctl capacity history default --dimension nodes --since yesterday', exit: 2 },
      { line: 'ctl capacity targets set default --nodes 20000 --observability-ingest 8MiB', exit: 0 },
      { line: 'ctl capacity targets set default --nodes default --sse-fanout 0 -o json', exit: 0 },
      { line: 'ctl capacity targets set default', exit: 2 },
      { line: 'ctl capacity targets set default --nodes -5', exit: 2 },
      { line: 'ctl capacity targets set default --nodes 99999999999999999', exit: 2 },
      { line: 'ctl capacity targets set default --nodes 5MiB', exit: 2 },
      { line: 'ctl capacity targets set default --observability-ingest 5M', exit: 2 },
      { line: 'ctl capacity targets set lab --nodes 5', exit: 5 },
      { line: 'ctl capacity show --help', exit: 0 },
      { line: 'ctl capacity watch --help', exit: 0 },
      { line: 'ctl capacity history --help', exit: 0 },
      { line: 'ctl capacity targets set --help', exit: 0 },
    ],
  },
  webhooks: {
    fleet: webhooksFleet,
    lines: [
      { line: 'ctl webhooks create https://new.acme.example/ctl --events node.offline,node.online --for 5m', exit: 0 },
      { line: 'ctl webhooks create https://hooks.acme.example/ctl --events node.offline', exit: 6 },
      { line: 'ctl webhooks create http://new.acme.example/ctl --events node.offline', exit: 9 },
      { line: 'ctl webhooks create https://new.acme.example/ctl --events node.exploded', exit: 2 },
      { line: 'ctl webhooks create https://new.acme.example/ctl', exit: 2, only: 'pipe' },
      { line: 'ctl webhooks list', exit: 0 },
      { line: 'ctl webhooks list -o wide', exit: 0 },
      { line: 'ctl webhooks show https://chat.acme.example/hooks/1', exit: 0 },
      { line: 'ctl webhooks update https://chat.acme.example/hooks/1 --enabled', exit: 0 },
      { line: 'ctl webhooks rotate-secret https://hooks.acme.example/ctl', exit: 0 },
      { line: 'ctl webhooks test https://hooks.acme.example/ctl', exit: 0 },
      { line: 'ctl webhooks test https://chat.acme.example/hooks/1', exit: 10 },
      { line: 'ctl webhooks deliveries https://hooks.acme.example/ctl', exit: 0 },
      { line: 'ctl webhooks redeliver https://hooks.acme.example/ctl 019c1a10-0000-7000-8000-0000000e5002', exit: 0 },
      {
        line: 'ctl webhooks redeliver https://chat.acme.example/hooks/1 019c1a10-0000-7000-8000-0000000e5002',
        exit: 6,
      },
      { line: 'ctl webhooks delete https://chat.acme.example/hooks/1 --yes', exit: 0 },
      { line: 'ctl webhooks show https://gone.acme.example', exit: 3 },
      { line: 'ctl webhooks test --help', exit: 0 },
    ],
  },
  rotating: {
    fleet: sixNodes,
    lines: [
      { line: 'ctl nodes rotate web-1', exit: 2, only: 'pipe' },
      { line: 'ctl nodes rotate web-1', exit: 0, only: 'tty', answers: [true] },
      { line: 'ctl nodes rotate web-1 --yes', exit: 0 },
      { line: 'ctl nodes rotate db-1 --yes --no-wait -o json', exit: 0 },
      { line: 'ctl nodes rotate status db-1', exit: 0 },
      { line: 'ctl nodes rotate -l tier=edge --batch 1 --dry-run', exit: 10 },
      { line: 'ctl nodes rotate -l tier=edge --batch 1 --pause 0s --yes', exit: 0 },
      { line: 'ctl nodes rotate --all --batch 50%', exit: 130, only: 'tty', answers: [false] },
      { line: "ctl nodes rotate --all --pause-on 'unreachable>0' --yes --no-input", exit: 10 },
      { line: "ctl nodes rotate --all --pause-on 'unreachable>0' --yes", exit: 10, only: 'tty', answers: [true] },
      { line: 'ctl nodes rotate --all --since 2026-02-01T12:00:00Z --yes -o json', exit: 10, only: 'pipe' },
      { line: 'ctl nodes rotate --all --pause-on unreachabel', exit: 2 },
      { line: 'ctl nodes rotate --help', exit: 0 },
    ],
  },
  waiting: {
    fleet: sixNodes,
    lines: [
      { line: 'ctl nodes wait web-1 db-1 --for reachability=healthy', exit: 0 },
      { line: 'ctl nodes wait --all --for reachability=healthy --timeout 1s', exit: 10 },
      { line: 'ctl nodes wait web-1 --for rotation=completed -o json', exit: 0 },
      { line: 'ctl nodes wait web-1 --for deregisterd', exit: 2 },
      { line: 'ctl nodes wait --help', exit: 0 },
    ],
  },
  pruning: {
    fleet: sixNodes,
    lines: [
      { line: 'ctl nodes prune --unreachable-for 7d', exit: 2, only: 'pipe' },
      { line: 'ctl nodes prune --unreachable-for 7d --dry-run', exit: 10 },
      { line: 'ctl nodes prune --unreachable-for 7d', exit: 130, only: 'tty', answers: [false] },
      { line: 'ctl nodes prune --unreachable-for 7d --yes', exit: 0 },
      { line: 'ctl nodes prune --unreachable-for 7d --yes', exit: 0 },
      { line: 'ctl nodes prune --help', exit: 0 },
    ],
  },
  releases: {
    fleet: releasesFleet,
    lines: [
      { line: 'ctl artifacts list', exit: 0 },
      { line: 'ctl artifacts list -o wide', exit: 0 },
      { line: 'ctl artifacts list -o name', exit: 0 },
      { line: 'ctl artifacts show 1.5.0', exit: 0 },
      { line: 'ctl artifacts show 1.6.0-rc.1', exit: 0 },
      { line: 'ctl artifacts show 1.6.0-rc.1 -o json', exit: 0 },
      { line: 'ctl artifacts show 1.5.0 --columns version,verdict', exit: 0 },
      { line: "ctl artifacts show 1.5.0 --jq '.architectures[].checksum'", exit: 0 },
      { line: 'ctl artifacts show 9.9.9', exit: 3 },
      { line: 'ctl artifacts show', exit: 2, only: 'pipe' },
      { line: 'ctl artifacts sigstore 1.5.0', exit: 0 },
      { line: 'ctl artifacts sigstore 9.9.9', exit: 3 },
      { line: 'ctl artifacts show --help', exit: 0 },
      { line: 'ctl artifacts sigstore --help', exit: 0 },
      { line: 'ctl nodes outdated', exit: 0 },
      { line: "ctl nodes outdated --jq '.versions'", exit: 0 },
      { line: 'ctl nodes outdated --help', exit: 0 },
    ],
  },
  provisioning: {
    fleet: catalogueFleet,
    lines: [
      { line: 'ctl bundles list', exit: 0 },
      { line: 'ctl bundles versions hetzner-base', exit: 0 },
      { line: 'ctl bundles clouds hetzner-base', exit: 0 },
      { line: 'ctl clouds list', exit: 0 },
      { line: 'ctl clouds list -o wide', exit: 0 },
      { line: 'ctl clouds list --sort=-status --no-headers --columns slug,status', exit: 0 },
      { line: 'ctl clouds show eu2', exit: 0 },
      { line: 'ctl clouds promote eu1', exit: 0 },
      { line: 'ctl clouds promote eu1', exit: 0 },
      { line: 'ctl clouds promote eu1 --to 9', exit: 9 },
      { line: 'ctl clouds promote own1', exit: 6 },
      { line: 'ctl clouds override eu1 --package oci://registry.example.com/extra@v10', exit: 0 },
      { line: 'ctl clouds override eu1 --package oci://registry.example.com/extra', exit: 2 },
      { line: 'ctl clouds override eu1 --clear', exit: 0 },
      { line: 'ctl clouds inline eu3', exit: 0 },
      { line: 'ctl clouds upgrade --bundle hetzner-base --dry-run', exit: 10 },
      { line: 'ctl clouds upgrade --bundle hetzner-base --to 3', exit: 2, only: 'pipe' },
      {
        line: 'ctl clouds upgrade --bundle hetzner-base --batch 1 --pause',
        exit: 10,
        only: 'tty',
        answers: [true, false],
      },
      { line: 'ctl clouds upgrade --bundle hetzner-base --batch 1 --yes', exit: 0 },
      { line: 'ctl clouds upgrade --bundle hetzner-base --yes', exit: 0 },
      { line: 'ctl clouds upgrad --bundle hetzner-base', exit: 2 },
      { line: 'ctl clouds upgrade --bundle hetzner-bse --yes', exit: 3 },
      { line: 'ctl clouds upgrade --help', exit: 0 },
      { line: 'ctl clouds create --help', exit: 0 },
      { line: 'ctl bundles --help', exit: 0 },
    ],
  },
  lending: {
    fleet: () => ({ routes: LENT }),
    lines: [
      { line: 'ctl cloud-credentials list --cloud eu1', exit: 0 },
      {
        line: 'ctl cloud-credentials create production --cloud eu1 --secret-file - --expires-at 90d',
        exit: 0,
        stdin: 'token: hunter2',
      },
      { line: `ctl cloud-credentials create production --cloud eu1 --secret '{"token":"hunter2"}'`, exit: 2 },
      { line: 'ctl cloud-credentials create production --cloud eu1 --secret-file missing', exit: 2 },
      {
        line: 'ctl cloud-credentials create production --cloud eu1 --secret-file -',
        exit: 2,
        stdin: '{"token": hunter2',
      },
      { line: 'ctl cloud-credentials show production', exit: 2, only: 'pipe' },
      { line: 'ctl cloud-credentials show production --cloud eu1', exit: 0 },
      { line: 'ctl cloud-credentials suspend production --cloud eu1', exit: 0, only: 'tty', answers: [true] },
      { line: 'ctl cloud-credentials resume production --cloud eu1', exit: 0 },
      { line: 'ctl cloud-credentials rotate production --cloud eu1 --secret-file -', exit: 0, stdin: 'token: t' },
      { line: 'ctl cloud-credentials revoke production --cloud eu1 --reason leaked --yes', exit: 0 },
      { line: 'ctl cloud-credentials delete production --cloud eu1 --yes', exit: 6 },
      { line: 'ctl cloud-assignments request --cloud eu1', exit: 0 },
      { line: 'ctl cloud-assignments list', exit: 0 },
      { line: 'ctl cloud-assignments revoke ca0001 --reason over --yes', exit: 6 },
      { line: 'ctl credentials request', exit: 2 },
      { line: 'ctl credentials request --cloud eu1 --credential production', exit: 0 },
      { line: 'ctl credentials list', exit: 0 },
      { line: 'ctl credentials revoke ca0001 --reason over --yes', exit: 0 },
      { line: 'ctl provider-configs show eu1', exit: 0 },
      { line: 'ctl secrets put registry-token --value-file -', exit: 0, stdin: 'hunter2' },
      { line: 'ctl secrets put registry-token hunter2', exit: 2 },
      { line: 'ctl secrets put registry-token --value=hunter2', exit: 2 },
      { line: 'ctl secrets list', exit: 0 },
      { line: 'ctl secrets show registry-token', exit: 0 },
      { line: 'ctl secrets delete registry-token --yes', exit: 6 },
      { line: 'ctl cloud-credentials create --help', exit: 0 },
      { line: 'ctl credentials request --help', exit: 0 },
    ],
  },
  bridging: {
    fleet: bridgeFleet,
    lines: [
      { line: 'ctl bridge status edge-2 --watch', exit: 0 },
      { line: 'ctl bridge status edge-1', exit: 10 },
      { line: 'ctl bridge status edge-1 -o wide', exit: 10, only: 'pipe' },
      { line: 'ctl bridge status edge-2 -o json', exit: 0, only: 'pipe' },
      { line: 'ctl bridge show edge-1', exit: 0 },
      { line: 'ctl bridge show edge-2', exit: 0 },
      { line: "ctl bridge show edge-1 --jq '.ingress[].sni_host'", exit: 0 },
      { line: 'ctl bridge show', exit: 2 },
      { line: 'ctl bridge show egde-1', exit: 3 },
      { line: 'ctl bridge show shop', exit: 3 },
      { line: 'ctl bridge check edge-2', exit: 0 },
      { line: 'ctl bridge check edge-1', exit: 10 },
      { line: 'ctl bridge check edge-1 -o json', exit: 10, only: 'pipe' },
      {
        line: 'ctl bridge check edge-1 --file - --curl',
        exit: 0,
        stdin: 'ingress: [{ slug: wiki, sni_host: wiki.example.org, target_node_id: db-1, target_port: 80 }]\n',
      },
      { line: 'ctl bridge relay set edge-1 --port 51821', exit: 0 },
      { line: 'ctl bridge relay set edge-1', exit: 2, only: 'pipe' },
      { line: 'ctl bridge relay show edge-1', exit: 0 },
      { line: 'ctl bridge relay show edge-2', exit: 3 },
      { line: 'ctl bridge relay disable edge-1', exit: 0 },
      { line: 'ctl bridge relay enable edge-1 --curl', exit: 0 },
      { line: 'ctl bridge relay enable edge-2', exit: 3 },
      { line: 'ctl bridge user-access list --bridge edge-1', exit: 0 },
      {
        line: 'ctl bridge user-access create guests --bridge edge-1 --kind wireguard --interface wg-guests --port 51831 --max-peers 20 --secret guests-key',
        exit: 0,
      },
      { line: 'ctl bridge user-access update staff --bridge edge-1 --max-peers 100 --curl', exit: 0 },
      { line: 'ctl bridge user-access update staff --bridge edge-1', exit: 2 },
      { line: 'ctl bridge user-access peers list staff --bridge edge-1', exit: 0 },
      { line: 'ctl bridge user-access peers list staff --bridge edge-1 -o json', exit: 0, only: 'pipe' },
      {
        line: 'ctl bridge user-access peers add staff dan-phone --bridge edge-1 --public-key 8GGhVIQQpNnYYQOLLpe0X8N8Kk3rhhAZUiEuq6YbYUQ=',
        exit: 0,
      },
      {
        line: 'ctl bridge user-access peers add staff cyd-phone --bridge edge-1 --public-key 8GGhVIQQpNnYYQOLLpe0X8N8Kk3rhhAZUiEuq6YbYUQ=',
        exit: 6,
      },
      { line: 'ctl bridge user-access peers remove staff ann-phone --bridge edge-1 --yes', exit: 0 },
      { line: 'ctl bridge user-access enroll staff --bridge edge-1', exit: 2 },
      { line: 'ctl bridge user-access enroll staff --bridge edge-1 --name cyd-phone', exit: 6 },
      { line: 'ctl bridge ingress list --bridge edge-1', exit: 0 },
      { line: 'ctl bridge ingress list', exit: 2 },
      { line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org --target db-1:80', exit: 0 },
      { line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org --target db-1', exit: 2 },
      { line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org', exit: 2 },
      { line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org --target web-9:80', exit: 3 },
      { line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org --target db-1:443', exit: 6 },
      {
        line: 'ctl bridge ingress create wiki --bridge edge-1 --host wiki.example.org --target db-1:80 --acme https://away.example.org/directory',
        exit: 9,
      },
      { line: 'ctl bridge ingress create shop --bridge edge-1 --host shop.example.org --target db-1:80', exit: 6 },
      {
        line: 'ctl bridge ingress create shop --bridge edge-1 --host shop.example.org --target db-1:80 --if-not-exists',
        exit: 0,
      },
      { line: 'ctl bridge ingress update shop --bridge edge-1 --target web-1:8443 --no-acme', exit: 0 },
      { line: 'ctl bridge ingress update shop --bridge edge-1 --target web-1:8443 --curl', exit: 0 },
      { line: 'ctl bridge ingress update shpo --bridge edge-1 --no-acme', exit: 3 },
      { line: 'ctl bridge ingress delete shop --bridge edge-1', exit: 2, only: 'pipe' },
      { line: 'ctl bridge ingress delete shop --bridge edge-1', exit: 0, only: 'tty', answers: [true] },
      { line: 'ctl bridge ingress delete shop blog --bridge edge-1 --yes', exit: 0 },
      { line: 'ctl bridge site-to-site list --bridge edge-1', exit: 0 },
      {
        line: 'ctl bridge site-to-site create depot --bridge edge-1 --kind wireguard --remote [2001:db8::9]:51820 --subnets 10.40.0.0/16,10.41.0.0/16 --secret hq-key:3 -o json',
        exit: 0,
      },
      {
        line: 'ctl bridge site-to-site create depot --bridge edge-1 --kind wireguard --remote vpn.example.org:51820 --subnets 100.64.0.0/16 --secret hq-key',
        exit: 6,
      },
      {
        line: 'ctl bridge site-to-site create depot --bridge edge-1 --kind wireguard --remote vpn.example.org:51820 --subnets 10.20.4.0/24 --secret hq-key',
        exit: 6,
      },
      {
        line: 'ctl bridge site-to-site create depot --bridge edge-1 --kind wireguard --remote 2001:db8::9:51820 --subnets 10.40.0.0/16 --secret hq-key',
        exit: 2,
      },
      {
        line: 'ctl bridge site-to-site create depot --bridge edge-1 --kind wireguard --remote vpn.example.org:51820 --subnets 10.40.0.0/16 --secret HQ_KEY',
        exit: 2,
      },
      { line: 'ctl bridge site-to-site update hq --bridge edge-1 --subnets 10.20.0.0/16 --curl', exit: 0 },
      { line: 'ctl bridge graph edge-1', exit: 0 },
      { line: 'ctl bridge graph', exit: 0 },
      { line: 'ctl bridge graph edge-1 --format dot', exit: 0, only: 'pipe' },
      { line: 'ctl bridge graph edge-1 --format mermaid', exit: 0, only: 'pipe' },
      { line: 'ctl bridge graph --format svg', exit: 0, only: 'pipe' },
      { line: 'ctl bridge graph --format svg -o json', exit: 2 },
      { line: 'ctl bridge --help', exit: 0 },
      { line: 'ctl bridge ingress create --help', exit: 0 },
      { line: 'ctl bridge status --help', exit: 0, only: 'pipe' },
    ],
  },
  'rolling-out': {
    fleet: rolloutsFleet,
    lines: [
      {
        line: "ctl rollouts create r1 --version 1.5.0 -l env=staging --waves 5%,25%,group:blue,100% --canaries 2 --soak 10m --max-failures 1 --window 'Mon-Fri 09:00-16:00 Europe/Berlin'",
        exit: 0,
      },
      { line: 'ctl rollouts create r1 --version 1.5.0', exit: 2 },
      { line: 'ctl rollouts create r1 --version 1.5.0 --all -l env=staging', exit: 2 },
      { line: 'ctl rollouts create r1 --all', exit: 2 },
      { line: 'ctl rollouts create --version 1.5.0 --all', exit: 2, only: 'pipe' },
      { line: 'ctl rollouts create r1 --version 1.5.0 --all --waves 5,25%', exit: 2 },
      { line: 'ctl rollouts create r1 --version 1.5.0 --all --waves blue,green', exit: 2 },
      { line: "ctl rollouts create r1 --version 1.5.0 --all --window 'Mon-Fri 09:00-16:00'", exit: 2 },
      { line: "ctl rollouts create r1 --version 1.5.0 --all --window 'Mon-Fri 09:00-16:00 Europe/Berln'", exit: 2 },
      { line: 'ctl rollouts create r1 --version 1.5.0 --all --window nights', exit: 2 },
      { line: 'ctl rollouts create r1 --version 1.5.0 --all --waves 50%', exit: 9 },
      { line: 'ctl rollouts create r1 --version 1.4.0 --all', exit: 9 },
      { line: 'ctl rollouts create r1 --version 1.5.0 -l evn=prod', exit: 9 },
      { line: "ctl rollouts create r1 --version 1.5.0 -l 'env in (a'", exit: 2 },
      { line: 'ctl rollouts create r2 --version 1.5.0 --all --waves 50%,100%', exit: 6 },
      { line: 'ctl rollouts create r2 --version 1.5.0 --all --waves 50%,100% --if-not-exists -o name', exit: 0 },
      {
        line: 'ctl rollouts create r4 -f - --curl',
        exit: 0,
        stdin: 'id: x\nstatus: halted\nversion: 1.5.0\nselector: env=prod\nwaves: [{ percent: 100 }]\n',
      },
      { line: 'ctl rollouts list', exit: 0 },
      { line: 'ctl rollouts list -o wide', exit: 0, only: 'pipe' },
      { line: 'ctl rollouts show r1', exit: 0 },
      { line: 'ctl rollouts show r1', exit: 0 },
      { line: 'ctl rollouts show r1 --jq .status', exit: 0 },
      { line: 'ctl rollouts show r9', exit: 3 },
      { line: 'ctl rollouts nodes r1', exit: 0 },
      { line: 'ctl rollouts start r1', exit: 0 },
      { line: 'ctl rollouts start r1', exit: 6 },
      { line: 'ctl rollouts start r1', exit: 6 },
      { line: 'ctl rollouts start r2', exit: 10 },
      { line: 'ctl rollouts pause r1', exit: 0 },
      { line: 'ctl rollouts resume r1', exit: 0 },
      { line: 'ctl rollouts watch r1', exit: 10 },
      { line: 'ctl rollouts watch r2', exit: 0, only: 'tty' },
      { line: 'ctl rollouts watch r2 -o json', exit: 0, only: 'pipe' },
      { line: 'ctl rollouts watch r3', exit: 10 },
      { line: 'ctl rollouts watch r3 --columns slug', exit: 2 },
      { line: 'ctl rollouts cancel r1', exit: 2, only: 'pipe' },
      { line: 'ctl rollouts cancel r1', exit: 0, only: 'tty', answers: [true] },
      { line: 'ctl rollouts delete r1 --yes', exit: 6 },
      { line: 'ctl rollouts delete r2 --yes', exit: 0 },
      { line: 'ctl rollouts --help', exit: 0 },
      { line: 'ctl rollouts create --help', exit: 0 },
      { line: 'ctl rollouts watch --help', exit: 0, only: 'pipe' },
    ],
  },
  drawing: {
    fleet: sixNodes,
    lines: [
      { line: 'ctl nodes topology', exit: 0 },
      { line: 'ctl nodes topology --node web-1', exit: 0 },
      { line: 'ctl nodes topology --format tree', exit: 0 },
      { line: 'ctl nodes topology --format dot', exit: 0, only: 'pipe' },
      { line: 'ctl nodes topology --format mermaid', exit: 0, only: 'pipe' },
      { line: 'ctl nodes topology --node web-1 --format svg', exit: 0, only: 'pipe' },
      { line: 'ctl nodes topology --jq .edges[0].mode', exit: 0 },
      { line: 'ctl nodes topology --format png', exit: 2 },
      { line: 'ctl nodes topology --format svg -o json', exit: 2 },
      { line: 'ctl nodes topology --format svg --watch', exit: 2, only: 'pipe' },
      { line: 'ctl nodes topology --help', exit: 0 },
    ],
  },
}

describe.each(['tty', 'pipe'] as const)('The command line on a %s', (where) => {
  it.each(Object.entries(SCRIPTS))('handles fleets as written down: %s', async (name, { fleet, lines }) => {
    const stub = await startStub(fleet().routes)
    const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_local_x' })
    const steps: Step[] = []
    for (const { line, exit, only, ...options } of lines) {
      if (only !== undefined && only !== where) continue
      const result = await home.run(words(line), { ...waitingClock(), ...options, isTty: where === 'tty' })
      expect([line, result.exitCode]).toEqual([line, exit])
      steps.push({ line: options.stdin === undefined ? line : `${line} < stdin`, result })
    }
    await stub.close()
    home.remove()
    expectGolden(`${name}.${where}`, transcriptOf(steps, { [stub.url]: 'http://127.0.0.1:7443' }))
  })
})
