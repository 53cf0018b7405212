#!/bin/sh
echo one