/** The text of a PDF. Runs in a worker, as text: see convert-html.ts. */

interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<{ getTextContent(): Promise<{ items: readonly object[] }> }>;
}

export interface PdfReader {
  getDocumentProxy(bytes: Uint8Array): Promise<PdfDocument>;
}

export interface PdfText {
  pages: number;
  text: string;
}

/** Stops after the page on which `maxChars` is reached. Rejects for what is no PDF. */
export async function readPdf(reader: PdfReader, bytes: Uint8Array, maxChars: number): Promise<PdfText> {
  const document = await reader.getDocumentProxy(bytes);
  let text = '';
  for (let number = 1; number <= document.numPages && text.length < maxChars; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let shown = '';
    for (const item of items) {
      if ('str' in item && typeof item.str === 'string') shown += item.str;
      if ('hasEOL' in item && item.hasEOL === true) shown += '\n';
    }
    text += `${text === '' ? '' : '\n\n'}[Page ${number}]\n${shown.trim()}`;
  }
  return { pages: document.numPages, text };
}
