/** An instruction from the middle of a conversation, for a wire that has no place for it but user text. */
export function systemReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}
