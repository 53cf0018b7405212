#!/bin/sh
echo two