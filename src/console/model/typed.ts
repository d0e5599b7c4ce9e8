/**
 * Commands as they are typed where the server was started, e.g. `npx ctl` instead of `ctl`.
 *
 * @param text one command a line, each beginning with `ctl`
 * @param command what stands for `ctl`
 */
export const asTyped = (text: string, command: string): string => text.replaceAll(/^ctl(?= )/gm, command)
