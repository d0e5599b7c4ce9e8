import { defineCommand } from '../../argv/command.ts'
import type { Setting } from '../../session/settings.ts'

export const view = defineCommand({
  description:
    'Each setting comes from a flag, else the environment, else .ctl.yaml here or above, else the context, else a default.',
  flags: { 'show-origin': { kind: 'switch', describe: 'Say where each value comes from' } },
  uses: ['connection', 'output'],
  examples: ['ctl config view --show-origin'],
  async run(session, { flags }) {
    const settings = await session.settings()
    const token = await settings.token()
    const row = (
      key: string,
      { value, origin }: Setting<string | number | undefined>,
    ): Readonly<Record<string, unknown>> => ({
      key,
      value: value ?? null,
      ...(flags['show-origin'] === true && { origin }),
    })
    const rows = [
      row('context', settings.context),
      row('url', settings.url),
      row('token', {
        value: token === undefined ? undefined : masked(token),
        origin: settings.tokenOrigin ?? 'default',
      }),
      row('domain', settings.domain),
      row('project', settings.project),
      row('output', settings.output),
      row('timeout', { ...settings.timeoutSeconds, value: `${settings.timeoutSeconds.value}s` }),
      row('ca_file', settings.caFile),
      row('ca_sha256', settings.caSha256),
      row('protected', {
        value: String(settings.isProtected),
        origin: settings.isProtected ? `context ${settings.context.value ?? ''}` : 'default',
      }),
      row('config', {
        value: session.contexts.configPath,
        origin: session.io.env['CTL_CONFIG_DIR'] ? 'CTL_CONFIG_DIR' : 'default',
      }),
    ]
    const origin = flags['show-origin'] === true ? ['origin'] : []
    await session.emit(rows, { columns: ['key', 'value', ...origin], isUncut: true })
  },
})

/** Enough to tell tokens apart: the public part, up to the id. */
function masked(token: string): string {
  const prefix = /^(?:psk|jtk|nsk)_[a-z0-9]+_[0-9a-f]{32}/.exec(token)?.[0]
  return prefix === undefined ? '(set)' : `${prefix}_…`
}
