import type { Io } from '../../output/io.ts'

/** Starts the person's browser at an address. False where none could be started; it is not waited for. */
export async function openBrowser(url: string): Promise<boolean> {
  try {
    const { default: open } = await import('open')
    const child = await open(url)
    return await new Promise((resolve) => {
      child.once('error', () => resolve(false))
      child.once('spawn', () => resolve(true))
      if (child.pid !== undefined) resolve(true)
    })
  } catch {
    return false
  }
}

/** Whether there is no screen in front of this process: a remote shell, CI, or Linux without a display. */
export function isHeadless({ env, stderr }: Io, platform: string = process.platform): boolean {
  if (!stderr.isTty || env['CI'] || env['SSH_CONNECTION'] || env['SSH_TTY'] || env['BROWSER'] === 'none') return true
  const hasDisplay = Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'])
  return platform === 'linux' && !hasDisplay
}
