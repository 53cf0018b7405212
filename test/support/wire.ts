/** Exact wire bytes of every dialect, streaming and whole, from one description of an answer. */
export * from './scripted.js';
export * from './wire-anthropic.js';
export * from './wire-chat.js';
export * from './wire-responses.js';
