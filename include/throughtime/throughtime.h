#pragma once

#include "throughtime/cell.h"
#include "throughtime/engine.h"
#include "throughtime/error.h"
#include "throughtime/head.h"
#include "throughtime/learner.h"
#include "throughtime/model.h"
#include "throughtime/optimizer.h"
#include "throughtime/parameters.h"
#include "throughtime/random.h"
#include "throughtime/window.h"
