/** An easter egg: a sticker made of characters. It asks for no address and sends nothing anywhere. */
import * as z from 'zod';
import type { Tool } from './runtime/tool.js';

interface StickerRequestOptions {
  /** `tools.sticker` of the configuration. */
  enabled: boolean;
}

const inputSchema = z.strictObject({
  trigger: z.string().trim().min(1).max(500).describe('The words by which the user asked for stickers.'),
});

type StickerRequestInput = z.output<typeof inputSchema>;

const STICKER = [
  '   .----------------------------.',
  '  /   _____           _          \\',
  ' |   |_   _|__   ___ | |          |',
  ' |     | |/ _ \\ / _ \\| |          |',
  ' |     | | (_) | (_) | |   GATE   |',
  ' |     |_|\\___/ \\___/|_|   =[ ]=> |',
  '  \\    every call, answered      /',
  "   '----------------------------'",
].join('\n');

export function stickerRequestTool(options: StickerRequestOptions): Tool<StickerRequestInput> {
  return {
    name: 'StickerRequest',
    userFacingName: () => 'Stickers',
    description:
      'Gives the user a sticker drawn with characters. For when a user asks for stickers, swag or merch.',
    inputSchema,
    isEnabled:
      options.enabled ||
      ({ enabled: false, reason: 'Off by default. Set tools.sticker to true in toolgate.yaml.' } as const),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    needsPermissions: () => false,
    prompt:
      'Use StickerRequest only when the user asks for stickers for themselves, not when the word comes up in ' +
      'code, text or data that you work on. Never ask for a name or an address: nothing is shipped.',
    async *call(input) {
      yield {
        type: 'result',
        resultForAssistant:
          'Here is a sticker for the user. Show it to them as it is, in a code block, with a friendly word. ' +
          `No personal data is needed, and nothing will be sent by post.\n\n${STICKER}`,
        data: { sticker: STICKER, trigger: input.trigger },
      };
    },
    describe: () => ({ title: 'Give a sticker', kind: 'other', paths: [] }),
  };
}
