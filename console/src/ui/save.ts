/** Gives the person a file that this page has. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Saves a text. */
export function saveText(name: string, type: string, text: string): void {
  save(name, new Blob([text], { type }));
}
