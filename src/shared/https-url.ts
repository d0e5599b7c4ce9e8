/** Whether the text is an absolute https URL without user, password or fragment. */
export function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password, hash, hostname } = new URL(text)
  return username === '' && password === '' && hash === '' && hostname !== ''
}
